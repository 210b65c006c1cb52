//go:build decoders

package main

import (
	"io"
	"os"
)

// What the program is with the tag decoders: it decodes files with modules that are not of the
// standard library.

const contender = "go-decoders"

// All methods, in the order of the list.
var methods = []method{
	{"pgzip.NewReader",
		"Read of a pgzip.Reader, which decodes ahead in a goroutine, over a bufio.Reader into one slice",
		ofBytes, []param{ownBuffer}, readByPgzip, false, "", "gzip"},
	{"zstd.NewReader",
		"Read of a zstd.Decoder of klauspost/compress over an os.File into one slice", ofBytes,
		[]param{ownBuffer, blocksAtOnce}, readByZstd, false, "", "zstd"},
	{"lz4.NewReader",
		"Read of an lz4.Reader of pierrec/lz4 over an os.File into one slice", ofBytes,
		[]param{ownBuffer}, readByLz4, false, "", "lz4"},
	{"xz.NewReader",
		"Read of an xz.Reader of ulikunitz/xz over a bufio.Reader into one slice", ofBytes,
		[]param{ownBuffer}, readByXz, false, "", "xz"},
	{"snappy.NewReader",
		"Read of a snappy.Reader of klauspost/compress over an os.File into one slice", ofBytes,
		[]param{ownBuffer}, readBySnappy, false, "", "snappy"},
	{"brotli.NewReader",
		"Read of a brotli.Reader of andybalholm/brotli over an os.File into one slice", ofBytes,
		[]param{ownBuffer}, readByBrotli, false, "", "brotli"},
}

// drainDecoder drains what a decoder makes of a file. Some decoders take a file without a byte for
// one without content.
func drainDecoder(r request, file *os.File, decoder io.Reader) (answer, error) {
	found, err := drain(r, decoder)
	if err != nil || *found.Bytes > 0 {
		return found, err
	}
	read, err := file.Seek(0, io.SeekCurrent)
	if err == nil && read == 0 {
		err = io.ErrUnexpectedEOF
	}
	return found, err
}
