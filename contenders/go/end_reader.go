//go:build decoders

package main

import "io"

// An endReader counts how many times its end is met: a buffer over it asks for more only if what it
// has is used up.
type endReader struct {
	from io.Reader
	ends int
}

func (e *endReader) Read(buffer []byte) (int, error) {
	length, err := e.from.Read(buffer)
	if err == io.EOF {
		e.ends++
	}
	return length, err
}
