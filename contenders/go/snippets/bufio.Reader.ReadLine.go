package main

import (
	"bufio"
	"errors"
	"io"
	"os"
)

const bufferBytes = 4096 // = buffer_bytes

// lines counts lines, where they are in the reader's buffer; a longer line comes in parts.
func lines(path string) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, bufferBytes)
	count := 0
	within := false
	for {
		_, isPrefix, err := reader.ReadLine()
		switch {
		case errors.Is(err, io.EOF):
			if within {
				count++
			}
			return count, nil
		case err != nil:
			return 0, err
		case !isPrefix:
			count++
		}
		within = isPrefix
	}
}
