package main

import (
	"bufio"
	"io"
	"os"
	"syscall"
)

// The methods that read many bytes at a time.

func readByRead(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	part, err := r.part.of(file)
	if err != nil {
		return answer{}, err
	}
	return drain(r, part)
}

func readByBufferedRead(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	part, err := r.part.of(file)
	if err != nil {
		return answer{}, err
	}
	return drain(r, bufio.NewReaderSize(part, r.params["buffer_bytes"]))
}

// drain reads to the end through one slice of buffer_bytes.
func drain(r request, from io.Reader) (answer, error) {
	tally := newTally(r)
	if err := tally.drain(from, make([]byte, r.params["buffer_bytes"])); err != nil {
		return answer{}, err
	}
	return tally.answer(), nil
}

// io.Copy lets the file write itself into the tally: an os.File does so through a buffer of 32 KiB.
func readByCopy(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	part, err := r.part.of(file)
	if err != nil {
		return answer{}, err
	}
	tally := newTally(r)
	if _, err := io.Copy(tally, part); err != nil {
		return answer{}, err
	}
	return tally.answer(), nil
}

func readAll(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	part, err := r.part.of(file)
	if err != nil {
		return answer{}, err
	}
	bytes, err := io.ReadAll(part)
	if err != nil {
		return answer{}, err
	}
	tally := newTally(r)
	tally.take(bytes)
	return tally.answer(), nil
}

func readWhole(r request) (answer, error) {
	bytes, err := os.ReadFile(r.path)
	if err != nil {
		return answer{}, err
	}
	tally := newTally(r)
	tally.take(bytes)
	return tally.answer(), nil
}

// Nothing cannot be mapped, and has no bytes to visit.
func readMapped(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil {
		return answer{}, err
	}
	if about.IsDir() {
		return answer{}, syscall.EISDIR
	}
	// In Stat, a block device has no size.
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return answer{}, err
	}
	tally := newTally(r)
	start, length := r.part.within(size)
	if length == 0 {
		return tally.answer(), nil
	}
	bytes, err := syscall.Mmap(int(file.Fd()), start, int(length), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return answer{}, err
	}
	if r.work == "discard" {
		touch(bytes)
	}
	tally.take(bytes)
	return tally.answer(), syscall.Munmap(bytes)
}

// touch visits one byte of every page, so that each is read.
func touch(bytes []byte) {
	var some byte
	for at := 0; at < len(bytes); at += os.Getpagesize() {
		some |= bytes[at]
	}
	unused = uint64(some)
}
