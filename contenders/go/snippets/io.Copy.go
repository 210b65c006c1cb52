package main

import (
	"io"
	"os"
)

// A counter is a Writer that counts what is written into it.
type counter struct {
	count func([]byte) int
	sum   int
}

func (c *counter) Write(chunk []byte) (int, error) {
	c.sum += c.count(chunk)
	return len(chunk), nil
}

// total adds up count over the file's bytes, as io.Copy writes them.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	counter := &counter{count: count}
	_, err = io.Copy(counter, file)
	return counter.sum, err
}
