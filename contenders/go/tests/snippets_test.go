package tests

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The snippets of methods for URLs print the number of newlines.

func TestSnippetsOfURLsCount(t *testing.T) {
	paths, err := filepath.Glob("../snippets/http.*.go")
	if err != nil || len(paths) != 2 {
		t.Fatalf("%v: %v", paths, err)
	}
	for _, path := range paths {
		program := filepath.Join(t.TempDir(), "snippet")
		if said, err := exec.Command("go", "build", "-o", program, path).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", path, said)
		}
		for _, length := range []int{0, 1, 200_000, 20_000_000} {
			content := text(length)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				http.ServeContent(w, r, "", noTime, bytes.NewReader(content))
			}))
			said, err := exec.Command(program, server.URL+"/a?b=c").CombinedOutput()
			server.Close()
			expected := fmt.Sprint(bytes.Count(content, []byte{'\n'}))
			if found := strings.TrimSpace(string(said)); err != nil || found != expected {
				t.Errorf("%s of %d bytes: %v, %s, expected %s", path, length, err, found, expected)
			}
		}
	}
}
