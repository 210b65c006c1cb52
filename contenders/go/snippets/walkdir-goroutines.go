package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

const workers = 8 // = workers

// total adds up count over every regular file below a folder, by goroutines that take paths from a
// channel. Links are not followed.
func total(folder string, count func([]byte) int) (int, error) {
	type result struct {
		sum int
		err error
	}
	paths := make(chan string)
	results := make(chan result)
	for i := 0; i < workers; i++ {
		go func() {
			var found result
			for path := range paths {
				bytes, err := os.ReadFile(path)
				if err != nil {
					found.err = err
				}
				found.sum += count(bytes)
			}
			results <- found
		}()
	}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			paths <- path
		}
		return err
	})
	close(paths)
	sum := 0
	for i := 0; i < workers; i++ {
		found := <-results
		sum += found.sum
		if found.err != nil {
			err = found.err
		}
	}
	return sum, err
}
