// needs: the module pierrec/lz4/v4
package main

import (
	"errors"
	"io"
	"os"

	"github.com/pierrec/lz4/v4"
)

const bufferBytes = 65536 // = buffer_bytes

// total adds up count over what comes out of an lz4, one Read at a time into one slice.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	decoder := lz4.NewReader(file)
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
