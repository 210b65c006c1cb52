package main

import (
	"os"
	"syscall"
)

// total counts over the file's bytes where they are mapped. A file that others cut off meanwhile ends the process.
func total(path string, count func([]byte) int) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	about, err := file.Stat()
	if err != nil || about.Size() == 0 { // An empty file cannot be mapped.
		return 0, err
	}
	bytes, err := syscall.Mmap(int(file.Fd()), 0, int(about.Size()), syscall.PROT_READ, syscall.MAP_PRIVATE)
	if err != nil {
		return 0, err
	}
	return count(bytes), syscall.Munmap(bytes)
}
