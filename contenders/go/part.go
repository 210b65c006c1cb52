package main

import (
	"io"
	"math"
	"os"
)

// A part is the bytes of a file that are read; all, if nothing else was requested.
type part struct {
	start  int64
	length int64
}

var wholeFile = part{0, math.MaxInt64}

// of is the part of an open file, from its start on. All of a file is the file itself.
func (p part) of(file *os.File) (io.Reader, error) {
	if p == wholeFile {
		return file, nil
	}
	if _, err := file.Seek(p.start, io.SeekStart); err != nil {
		return nil, err
	}
	return io.LimitReader(file, p.length), nil
}

// within is where the part begins in a file of this size, and how long it is there.
func (p part) within(size int64) (start, length int64) {
	start = p.start
	if start > size {
		start = size
	}
	if length = p.length; length > size-start {
		length = size - start
	}
	return start, length
}
