package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// The messages of the protocol, one line of flat JSON each.

const (
	protocol  = 1
	contender = "go-objects"
	version   = "0.1.0"
)

// The libraries whose versions the receipt has.
var libraries = []string{
	"github.com/aws/aws-sdk-go-v2/service/s3",
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager",
	"github.com/minio/minio-go/v7",
}

func sayHello() {
	say(struct {
		Say       string `json:"say"`
		Protocol  int    `json:"protocol"`
		Contender string `json:"contender"`
		Version   string `json:"version"`
		Runtime   string `json:"runtime"`
	}{"hello", protocol, contender, version, strings.Join(receipt(), ", ")})
}

// receipt is the runtime and the libraries that were built in.
func receipt() []string {
	words := []string{runtime.Version(), runtime.GOARCH}
	built, known := debug.ReadBuildInfo()
	if !known {
		return words
	}
	for _, module := range built.Deps {
		if contains(libraries, module.Path) {
			words = append(words, strings.TrimPrefix(module.Path, "github.com/")+" "+module.Version)
		}
	}
	return words
}

func sayMethod(m method) {
	say(struct {
		Say    string              `json:"say"`
		Method string              `json:"method"`
		Scans  map[string][]string `json:"scans"`
		Params []param             `json:"params"`
		About  string              `json:"about"`
		Cache  string              `json:"cache"`
		Reads  string              `json:"reads"`
	}{"method", m.name, scans, m.params, m.about, "through", "object"})
}
func sayReady(params map[string]int) {
	say(struct {
		Say    string         `json:"say"`
		Params map[string]int `json:"params"`
	}{"ready", params})
}

// saySamples prints a whole turn with one write.
func saySamples(samples []sample) {
	var lines bytes.Buffer
	for _, taken := range samples {
		lines.Write(line(struct {
			Say string `json:"say"`
			sample
		}{"sample", taken}))
	}
	lines.Write(line(struct {
		Say   string `json:"say"`
		Count int    `json:"count"`
	}{"done", len(samples)}))
	os.Stdout.Write(lines.Bytes())
}

func sayFailed(why error) {
	say(struct {
		Say    string `json:"say"`
		Reason string `json:"reason"`
	}{"failed", why.Error()})
}

func say(message any) {
	os.Stdout.Write(line(message))
}

// line is a message with its newline. Messages only have strings and integers, so encoding cannot fail.
func line(message any) []byte {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return append(text, '\n')
}
