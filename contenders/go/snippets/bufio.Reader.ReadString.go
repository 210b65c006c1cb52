package main

import (
	"bufio"
	"errors"
	"io"
	"os"
)

const bufferBytes = 4096 // = buffer_bytes

// newlines counts the lines that end, a string made for each.
func newlines(path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, bufferBytes)
	count := 0
	for {
		_, err := reader.ReadString('\n')
		switch {
		case err == nil:
			count++
		case errors.Is(err, io.EOF):
			return count, nil
		default:
			return 0, err
		}
	}
}
