// Package tests runs the built contender as the lab does, against servers of its own. This file
// starts a session, takes one turn and reads the messages.
package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var program = filepath.Join(os.Getenv("BUILD"), "readlab-go-objects")

const (
	target = "s3://bucket/a/key with?marks"
	path   = "/bucket/a/key with?marks"
	// What no message may contain.
	id     = "READLABIDENTITY0001"
	secret = "readlab/SECRET+0001"
)

// Every method, with parameters by which the content has several parts.
var methods = []string{
	"GetObject",
	"GetObject kept=0",
	"GetObject-ranged part_bytes=65536 concurrency=3",
	"GetObject-ranged part_bytes=65536 concurrency=1 kept=0",
	"transfermanager.DownloadObject part_bytes=65536 concurrency=3",
	"minio.GetObject",
	"minio.GetObject kept=0",
	"minio-ranged part_bytes=65536 concurrency=3",
}

func requestsRanges(method string) bool {
	return strings.Contains(method, "part_bytes")
}

// A message is any line of a contender.
type message struct {
	Say       string
	Reason    string
	WallNs    int64  `json:"wall_ns"`
	Bytes     *int64 `json:"bytes"`
	Newlines  *int64 `json:"newlines"`
	DNSNs     *int64 `json:"dns_ns"`
	ConnectNs *int64 `json:"connect_ns"`
	TLSNs     *int64 `json:"tls_ns"`
	FirstNs   *int64 `json:"first_byte_ns"`
	Requests  *int64
	Retries   *int64
}

// reads is what a method says in one turn of two readings of an object; the last is the result.
func reads(t *testing.T, method, endpoint string, environment ...string) (samples []message, last message) {
	t.Helper()
	words := strings.Fields(method)
	arguments := append([]string{"read", words[0], "loop", "newlines", target}, words[1:]...)
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), "AWS_ENDPOINT_URL_S3="+endpoint, "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID="+id, "AWS_SECRET_ACCESS_KEY="+secret, "READLAB_S3_STYLE=path",
		"HTTPS_PROXY=http://127.0.0.1:9", "HTTP_PROXY=http://127.0.0.1:9")
	command.Env = append(command.Env, environment...)
	command.Stdin = strings.NewReader("go 0 2\n")
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	_ = command.Run()
	if strings.Contains(said.String(), "SECRET") || strings.Contains(said.String(), id) {
		t.Errorf("it prints a secret:\n%s", said.String())
	}
	for _, line := range strings.Split(strings.TrimSpace(said.String()), "\n") {
		last = message{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%v: %s", err, said.String())
		}
		if last.Say == "sample" {
			samples = append(samples, last)
		}
	}
	return samples, last
}

// fails tests that a method fails, with words in the reason.
func fails(t *testing.T, method, endpoint, words string, environment ...string) {
	t.Helper()
	samples, last := reads(t, method, endpoint, environment...)
	if len(samples) > 0 || last.Say != "failed" || !strings.Contains(last.Reason, words) {
		t.Errorf("expected a failure for %q, got %d samples and %+v", words, len(samples), last)
	}
	if !strings.HasPrefix(last.Reason, target+": ") {
		t.Errorf("the reason does not name the object: %s", last.Reason)
	}
}

// everyMethod is a test of each method, named after it; it ends when all have. They run at once,
// since most of their time is the libraries' waiting before they repeat a request.
func everyMethod(t *testing.T, test func(*testing.T, string)) {
	t.Run("of", func(t *testing.T) {
		for _, method := range methods {
			t.Run(strings.ReplaceAll(method, " ", ","), func(t *testing.T) {
				t.Parallel()
				test(t, method)
			})
		}
	})
}

// dated is a handler whose answers have a date, without which minio-go takes none.
func dated(answer http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Last-Modified", "Sat, 01 Jan 2022 00:00:00 GMT")
		answer(w, r)
	})
}

// text is content with newlines, of this length.
func text(length int) []byte {
	var lines bytes.Buffer
	for i := 0; lines.Len() < length; i++ {
		fmt.Fprintln(&lines, i*i)
	}
	return lines.Bytes()[:length]
}
