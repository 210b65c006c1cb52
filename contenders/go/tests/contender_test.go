// Package tests runs the built contender as the lab does, against servers of its own. This file
// starts a session, takes one turn and reads the messages.
package tests

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	program = "../build/readlab-go"
	// What no message may contain: the query of the URL that is read.
	secret = "signature=SECRET"
)

// Every method that reads URLs, with parameters by which the content has several parts.
var methods = []string{
	"http.Client",
	"http.Client kept=1",
	"http.Client-ranged part_bytes=65536 concurrency=3",
	"http.Client-ranged part_bytes=65536 concurrency=1 kept=1",
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

// reads is what a method says in one turn of two readings of a secret URL; the last is the result.
func reads(t *testing.T, method, url string, environment ...string) (samples []message, last message) {
	t.Helper()
	words := strings.Fields(method)
	arguments := append([]string{"read", words[0], "loop", "newlines", "-"}, words[1:]...)
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), "READLAB_TARGET="+url+"?"+secret, "HTTPS_PROXY=http://127.0.0.1:9",
		"HTTP_PROXY=http://127.0.0.1:9")
	command.Env = append(command.Env, environment...)
	command.Stdin = strings.NewReader("go 0 2\n")
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	_ = command.Run()
	if strings.Contains(said.String(), "SECRET") {
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
func fails(t *testing.T, method, url, words string, environment ...string) {
	t.Helper()
	samples, last := reads(t, method, url, environment...)
	if len(samples) > 0 || last.Say != "failed" || !strings.Contains(last.Reason, words) {
		t.Errorf("expected a failure for %q, got %d samples and %+v", words, len(samples), last)
	}
	if shown := strings.Split(url, "?")[0]; !strings.HasPrefix(last.Reason, shown+": ") {
		t.Errorf("the reason does not name the URL: %s", last.Reason)
	}
}

// everyMethod is a test of each method, named after it.
func everyMethod(t *testing.T, test func(*testing.T, string)) {
	for _, method := range methods {
		t.Run(strings.ReplaceAll(method, " ", ","), func(t *testing.T) { test(t, method) })
	}
}

// text is content with newlines, of this length.
func text(length int) []byte {
	var lines bytes.Buffer
	for i := 0; lines.Len() < length; i++ {
		fmt.Fprintln(&lines, i*i)
	}
	return lines.Bytes()[:length]
}
