// needs: the module klauspost/pgzip
package main

import (
	"errors"
	"io"
	"os"

	"github.com/klauspost/pgzip"
)

const bufferBytes = 65536 // = buffer_bytes

// total adds up count over what comes out of a gzip, which is decoded ahead in a goroutine.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	decoder, err := pgzip.NewReader(file)
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
