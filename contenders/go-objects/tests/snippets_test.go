package tests

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The snippets print the number of newlines.

func TestSnippetsCount(t *testing.T) {
	paths, err := filepath.Glob("../snippets/*.go")
	if err != nil || len(paths) != 5 {
		t.Fatalf("%v: %v", paths, err)
	}
	for _, path := range paths {
		program := filepath.Join(t.TempDir(), "snippet")
		if said, err := exec.Command("go", "build", "-o", program, path).CombinedOutput(); err != nil {
			t.Fatalf("%s: %s", path, said)
		}
		for _, length := range []int{0, 1, 200_000, 20_000_000} {
			content := text(length)
			server := httptest.NewServer(dated(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("ETag", etag)
				http.ServeContent(w, r, "", noTime, bytes.NewReader(content))
			}))
			command := exec.Command(program, target)
			command.Env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+server.URL, "AWS_REGION=us-east-1",
				"AWS_ACCESS_KEY_ID="+id, "AWS_SECRET_ACCESS_KEY="+secret)
			said, err := command.Output()
			server.Close()
			expected := fmt.Sprint(bytes.Count(content, []byte{'\n'}))
			if found := strings.TrimSpace(string(said)); err != nil || found != expected {
				t.Errorf("%s of %d bytes: %v, %s, expected %s", path, length, err, found, expected)
			}
		}
	}
}
