//go:build decoders

package main

import (
	"os"

	"github.com/klauspost/compress/snappy"
)

func readBySnappy(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	return drainDecoder(r, file, snappy.NewReader(file))
}
