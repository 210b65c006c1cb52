// needs: the module klauspost/compress
package main

import (
	"errors"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

const (
	bufferBytes = 65536 // = buffer_bytes
	concurrency = 2     // = concurrency
)

// total adds up count over what comes out of a zstd, one Read at a time into one slice.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	decoder, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(concurrency))
	if err != nil {
		return 0, err
	}
	defer decoder.Close()
	buffer := make([]byte, bufferBytes)
	sum := 0
	for {
		length, err := decoder.Read(buffer)
		sum += count(buffer[:length])
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
