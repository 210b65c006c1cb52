//go:build decoders

package main

import (
	"bytes"
	"os"
	"runtime"

	"github.com/klauspost/compress/zstd"
)

// How many blocks are decoded at once; with 1, all in the goroutine that reads. The default is that
// of the module.
var blocksAtOnce = param{"concurrency", min(runtime.GOMAXPROCS(0), 4), 1, 256}

// How a dictionary of zstd --train begins.
var dictionaryMagic = []byte{0x37, 0xa4, 0x30, 0xec}

func readByZstd(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	options := []zstd.DOption{zstd.WithDecoderConcurrency(r.params["concurrency"])}
	if r.dictionary != nil {
		options = append(options, withDictionary(r.dictionary))
	}
	decoder, err := zstd.NewReader(file, options...)
	if err != nil {
		return answer{}, err
	}
	defer decoder.Close()
	return drainDecoder(r, file, decoder)
}

// withDictionary is the option for a dictionary of zstd --train, or of any other bytes: those have
// no number.
func withDictionary(dictionary []byte) zstd.DOption {
	if bytes.HasPrefix(dictionary, dictionaryMagic) {
		return zstd.WithDecoderDicts(dictionary)
	}
	return zstd.WithDecoderDictRaw(0, dictionary)
}
