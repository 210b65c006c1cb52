package main

import (
	"io"
	"os"
)

// total counts over the file's bytes, which are all in memory; the slice grows while they are read.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	bytes, err := io.ReadAll(file)
	if err != nil {
		return 0, err
	}
	return count(bytes), nil
}
