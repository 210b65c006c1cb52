// The Go contender of readlab: reads files and URLs with Go's standard library. With the tag decoders it is
// go-decoders, which decodes files with modules. This file parses the command line and starts one session
// (PROTOCOL.md); it does not read.
package main

import (
	"fmt"
	"os"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	os.Exit(converse(os.Args[1:]))
}

// converse runs one whole session and returns the exit code.
func converse(words []string) int {
	switch {
	case len(words) == 1 && words[0] == "hello":
		sayHello()
		return 0
	case len(words) == 1 && words[0] == "methods":
		sayHello()
		for _, method := range methods {
			sayMethod(method)
		}
		return 0
	case len(words) >= 5 && words[0] == "read":
		sayHello()
		request, err := parseRequest(words[1:])
		if lack := request.method.unavailable(); err == nil && lack != "" {
			sayUnavailable(lack)
			return 0
		}
		if err == nil {
			err = serve(request, os.Stdin)
		}
		if err != nil {
			sayFailed(err)
			return exitFailed
		}
		return 0
	}
	fmt.Fprintln(os.Stderr, "usage: readlab-"+contender+" hello | methods | read METHOD SCAN WORK TARGET [name=value ...]")
	return exitUsage
}
