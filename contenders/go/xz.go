//go:build decoders

package main

import (
	"bufio"
	"io"
	"os"

	"github.com/ulikunitz/xz"
)

// The module reads single bytes, so that the file is buffered. It takes the end of the file for
// that of a stream in some places, and looks for another one: then it meets the end a second time.
func readByXz(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	source := &endReader{from: file}
	decoder, err := xz.NewReader(bufio.NewReader(source))
	if err != nil {
		return answer{}, early(err)
	}
	found, err := drainDecoder(r, file, decoder)
	if err == nil && source.ends > 1 {
		err = io.ErrUnexpectedEOF
	}
	return found, err
}
