package main

import (
	"compress/bzip2"
	"compress/gzip"
	"io"
	"os"
)

// The methods that decode compressed files.

func readByGzip(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	decoder, err := gzip.NewReader(file)
	if err != nil {
		return answer{}, early(err)
	}
	defer decoder.Close()
	found, err := drain(r, decoder)
	return found, early(err)
}

func readByBzip2(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	return drain(r, bzip2.NewReader(file))
}

// early is the error of a file that ends before its first member does: an end of the file alone would be no error.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
