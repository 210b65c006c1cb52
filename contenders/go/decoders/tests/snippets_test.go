package tests

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The snippets, each with every scan that it takes.

const snippets = "../../../go-decoders/snippets"

const countsEach = `package main

import (
	"fmt"
	"os"
)

func main() {
	for _, path := range os.Args[1:] {
		fmt.Println(total(path, count))
	}
}
`

// goTool runs go as the build does, in the folder of go.mod.
func goTool(t *testing.T, words ...string) {
	t.Helper()
	command := exec.Command("go", words...)
	if said, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go %v: %v: %s", words, err, said)
	}
}

func TestSnippetsCount(t *testing.T) {
	scans, err := filepath.Glob(snippets + "/scan/*.go")
	if err != nil || len(scans) != 2 {
		t.Fatalf("%v: %v", scans, err)
	}
	for format, method := range methods {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			for _, scan := range scans {
				snippetCounts(t, format, filepath.Join(snippets, method+".go"), scan)
			}
		})
	}
}

func snippetCounts(t *testing.T, format, snippet, scan string) {
	t.Helper()
	main := filepath.Join(t.TempDir(), "main.go")
	program := filepath.Join(t.TempDir(), "snippet")
	write(t, main, countsEach)
	sources := together(t, snippet, scan, main)
	goTool(t, append([]string{"vet"}, sources...)...)
	goTool(t, append([]string{"build", "-o", program}, sources...)...)
	var expected strings.Builder
	words := []string{}
	for _, length := range []int{0, 1, 200_000, 1_000_000} {
		content := text(length)
		module := packer{format: format}
		words = append(words, of(t, format, module.pack(t, content)).path)
		fmt.Fprintf(&expected, "%d <nil>\n", bytes.Count(content, []byte{'\n'}))
	}
	said, err := exec.Command(program, words...).CombinedOutput()
	if err != nil || string(said) != expected.String() {
		t.Errorf("%s with %s: %v, %s, expected %s", snippet, scan, err, said, expected.String())
	}
}

// together copies files into one folder, which go asks for.
func together(t *testing.T, paths ...string) []string {
	t.Helper()
	folder := t.TempDir()
	var copies []string
	for number, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		copied := filepath.Join(folder, fmt.Sprintf("file%d.go", number))
		write(t, copied, string(content))
		copies = append(copies, copied)
	}
	return copies
}
