//go:build decoders

package main

import (
	"os"

	"github.com/pierrec/lz4/v4"
)

func readByLz4(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	return drainDecoder(r, file, lz4.NewReader(file))
}
