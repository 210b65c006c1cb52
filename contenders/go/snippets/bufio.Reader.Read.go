package main

import (
	"bufio"
	"errors"
	"io"
	"os"
)

const bufferBytes = 4096 // = buffer_bytes

// total adds up count over the file's bytes, as a bufio.Reader of this size gives them.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, bufferBytes)
	buffer := make([]byte, bufferBytes)
	sum := 0
	for {
		length, err := reader.Read(buffer)
		sum += count(buffer[:length])
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}
