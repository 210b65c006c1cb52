package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// The methods that read several files: those of a list, or all regular ones below a folder. WalkDir
// follows no link.

var errBrokenList = errors.New("a list of files has an empty path, or one without a zero byte at its end")

// parseList is the paths of a list, each of which a zero byte ends.
func parseList(path string) ([]string, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var paths []string
	for len(content) > 0 {
		end := bytes.IndexByte(content, 0)
		if end < 1 {
			return nil, &fs.PathError{Op: "read", Path: path, Err: errBrokenList}
		}
		paths = append(paths, string(content[:end]))
		content = content[end+1:]
	}
	return paths, nil
}

func readList(r request) (answer, error) {
	found := newPiecesTally(r)
	for _, path := range r.list {
		if err := found.readFile(path); err != nil {
			return answer{}, err
		}
	}
	return found.answer(), nil
}

func readWalk(r request) (answer, error) {
	found := newPiecesTally(r)
	err := filepath.WalkDir(r.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return found.readFile(path)
	})
	return found.answer(), err
}

// readWalkByWorkers reads as readWalk does, but each path goes through a channel to the goroutine
// that takes it. All goroutines have ended when it returns. After a failure no more files are read.
func readWalkByWorkers(r request) (answer, error) {
	type result struct {
		found *piecesTally
		err   error
	}
	paths := make(chan string)
	results := make(chan result)
	for i := 0; i < r.params["workers"]; i++ {
		go func() {
			found := newPiecesTally(r)
			var failure error
			for path := range paths {
				if failure == nil {
					failure = found.readFile(path)
				}
			}
			results <- result{found, failure}
		}()
	}
	err := filepath.WalkDir(r.path, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		paths <- path
		return nil
	})
	close(paths)
	total := newPiecesTally(r)
	for i := 0; i < r.params["workers"]; i++ {
		of := <-results
		total.add(of.found)
		if of.err != nil {
			err = of.err
		}
	}
	return total.answer(), err
}
