package main

import (
	"fmt"
	"os"
)

// dictionaryOfEnvironment reads the dictionary of a zstd; nil if there is none.
func dictionaryOfEnvironment() ([]byte, error) {
	path := os.Getenv("READLAB_DICTIONARY")
	if path == "" {
		return nil, nil
	}
	dictionary, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the dictionary %s: %w", path, cause(err))
	}
	return dictionary, nil
}
