// needs: the module ulikunitz/xz
package main

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/ulikunitz/xz"
)

const bufferBytes = 65536 // = buffer_bytes

// total adds up count over what comes out of an xz, one Read at a time into one slice.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	decoder, err := xz.NewReader(bufio.NewReader(file))
	if err != nil {
		return 0, err
	}
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
