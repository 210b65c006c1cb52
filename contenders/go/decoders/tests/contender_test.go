// Package tests runs the built contender as the lab does, on files that it compresses itself. This
// file starts a session, takes one turn and reads the messages.
package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var program = filepath.Join(os.Getenv("BUILD"), "readlab-go-decoders")

// The method of each format.
var methods = map[string]string{
	"gzip":   "pgzip.NewReader",
	"zstd":   "zstd.NewReader",
	"lz4":    "lz4.NewReader",
	"xz":     "xz.NewReader",
	"snappy": "snappy.NewReader",
	"brotli": "brotli.NewReader",
}

// A message is any line of a contender.
type message struct {
	Say        string
	Contender  string
	Runtime    string
	Method     string
	Decodes    []string
	Dictionary bool
	Params     json.RawMessage
	Reason     string
	Bytes      *int64
	Newlines   *int64
	Sum        *int64
}

// says is what a program answers to these words and turns, the last message first.
func says(t *testing.T, program, turns string, environment []string, words ...string) []message {
	t.Helper()
	command := exec.Command(program, words...)
	command.Env = append(os.Environ(), environment...)
	command.Stdin = strings.NewReader(turns)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	_ = command.Run()
	var messages []message
	for _, line := range strings.Split(strings.TrimSpace(said.String()), "\n") {
		var one message
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%v: %s", err, said.String())
		}
		messages = append([]message{one}, messages...)
	}
	return messages
}

// A reading is one turn of a session: the file, METHOD SCAN WORK, parameters and variables.
type reading struct {
	path        string
	method      string
	scan, work  string
	params      []string
	environment []string
}

// take takes a turn of two timed readings.
func (r reading) take(t *testing.T) (samples []message, last message) {
	t.Helper()
	words := append([]string{"read", r.method, r.scan, r.work, r.path}, r.params...)
	messages := says(t, program, "go 0 2\n", r.environment, words...)
	for _, one := range messages {
		if one.Say == "sample" {
			samples = append(samples, one)
		}
	}
	return samples, messages[0]
}

// answers tests that both readings prove this content.
func (r reading) answers(t *testing.T, content []byte) {
	t.Helper()
	samples, last := r.take(t)
	if len(samples) != 2 {
		t.Errorf("%+v: %d samples, %+v", r, len(samples), last)
		return
	}
	for _, sample := range samples {
		if !sample.isRight(r.work, content) {
			t.Errorf("%+v of %d bytes: %s", r, len(content), sample)
		}
	}
}

// fails tests that there is no sample, and that the reason names the file.
func (r reading) fails(t *testing.T, words string) {
	t.Helper()
	samples, last := r.take(t)
	named := strings.HasPrefix(last.Reason, r.path+": ") && len(last.Reason) > len(r.path)+2
	if len(samples) > 0 || last.Say != "failed" || !named || !strings.Contains(last.Reason, words) {
		t.Errorf("%+v: expected a failure for %q, got %d samples, %s", r, words, len(samples), last)
	}
}

// isNeverWrong tests that it fails or proves this content.
func (r reading) isNeverWrong(t *testing.T, content []byte) {
	t.Helper()
	samples, last := r.take(t)
	if len(samples) == 0 && last.Say == "failed" && strings.HasPrefix(last.Reason, r.path+": ") {
		return
	}
	if len(samples) != 2 || !samples[0].isRight(r.work, content) {
		t.Errorf("%+v of %d bytes: %d samples, %+v", r, len(content), len(samples), last)
	}
}

func (m message) isRight(work string, content []byte) bool {
	var sum byte
	for _, b := range content {
		sum += b
	}
	isRight := m.Bytes != nil && *m.Bytes == int64(len(content))
	switch work {
	case "newlines":
		newlines := int64(bytes.Count(content, []byte{'\n'}))
		return isRight && m.Newlines != nil && *m.Newlines == newlines
	case "sum":
		return isRight && m.Sum != nil && *m.Sum == int64(sum)
	}
	return isRight
}

func (m message) String() string {
	text, _ := json.Marshal(m)
	return string(text)
}

// of is a reading of bytes in a file of their own, by the method of their format.
func of(t *testing.T, format string, archive []byte) reading {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive."+format)
	if err := os.WriteFile(path, archive, 0o600); err != nil {
		t.Fatal(err)
	}
	return reading{path: path, method: methods[format], scan: "Count", work: "newlines"}
}

// text is content with newlines, of this length.
func text(length int) []byte {
	var lines bytes.Buffer
	for i := 0; lines.Len() < length; i++ {
		fmt.Fprintln(&lines, i*i)
	}
	return lines.Bytes()[:length]
}
