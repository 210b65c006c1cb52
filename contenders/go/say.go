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
	protocol = 1
	version  = "0.1.0"
)

func sayHello() {
	say(struct {
		Say       string `json:"say"`
		Protocol  int    `json:"protocol"`
		Contender string `json:"contender"`
		Version   string `json:"version"`
		Runtime   string `json:"runtime"`
	}{"hello", protocol, contender, version, strings.Join(receipt(), ", ")})
}

// receipt is the runtime and the modules that were built in.
func receipt() []string {
	words := []string{runtime.Version(), runtime.GOARCH}
	built, known := debug.ReadBuildInfo()
	if !known {
		return words
	}
	for _, module := range built.Deps {
		words = append(words, strings.TrimPrefix(module.Path, "github.com/")+" "+module.Version)
	}
	return words
}

func sayMethod(m method) {
	params := m.params
	if params == nil {
		params = []param{}
	}
	var decodes []string
	if m.decodes != "" {
		decodes = []string{m.decodes}
	}
	say(struct {
		Say    string              `json:"say"`
		Method string              `json:"method"`
		Scans  map[string][]string `json:"scans"`
		Params []param             `json:"params"`
		About  string              `json:"about"`
		Cache  string              `json:"cache"`
		Parts  bool                `json:"parts,omitempty"`
		Reads  string              `json:"reads,omitempty"`
		Decode []string            `json:"decodes,omitempty"`
		Dict   bool                `json:"dictionary,omitempty"`
		TLS    bool                `json:"tls,omitempty"`
		Lack   string              `json:"unavailable,omitempty"`
	}{"method", m.name, m.scans, params, m.about, "through", m.parts, m.reads, decodes, m.decodes == "zstd",
		m.reads == "url", m.unavailable()})
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

func sayUnavailable(reason string) {
	say(struct {
		Say    string `json:"say"`
		Reason string `json:"reason"`
	}{"unavailable", reason})
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
