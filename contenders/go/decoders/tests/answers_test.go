package tests

import (
	"bytes"
	"strings"
	"testing"
)

// What whole archives hold.

func TestTheListHasTheDecodersOnly(t *testing.T) {
	listed := map[string]string{}
	for _, one := range says(t, program, "", nil, "methods") {
		switch one.Say {
		case "hello":
			namesModule := strings.Contains(one.Runtime, "klauspost/compress v")
			if one.Contender != "go-decoders" || !namesModule {
				t.Errorf("%s", one)
			}
		case "method":
			if len(one.Decodes) != 1 || one.Dictionary != (one.Decodes[0] == "zstd") {
				t.Errorf("%s", one)
			}
			listed[one.Decodes[0]] = one.Method
		}
	}
	for format, method := range methods {
		if listed[format] != method || len(listed) != len(methods) {
			t.Errorf("%s: %v", format, listed)
		}
	}
}

func TestAnswersAreRight(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		for _, length := range []int{0, 1, 65536, 2_000_000} {
			content := text(length)
			of(t, packer.format, packer.pack(t, content)).answers(t, content)
		}
	})
}

// What may be between frames, and is no content.
var between = map[string][]byte{
	"zstd":   []byte("\x5a\x2a\x4d\x18\x05\x00\x00\x00abc\nd"),
	"lz4":    []byte("\x5a\x2a\x4d\x18\x05\x00\x00\x00abc\nd"),
	"xz":     make([]byte, 8),
	"snappy": []byte("\xfe\x05\x00\x00abc\nd"),
}

func TestSeveralFramesAreDecoded(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		if packer.format == "brotli" {
			return
		}
		contents := [][]byte{text(100), nil, text(70_000), text(1), text(600_000)}
		for _, skipped := range [][]byte{nil, between[packer.format]} {
			var archive []byte
			if packer.format == "zstd" || packer.format == "lz4" {
				archive = append(archive, skipped...)
			}
			for _, content := range contents {
				archive = append(archive, packer.pack(t, content)...)
				archive = append(archive, skipped...)
			}
			file := of(t, packer.format, archive)
			file.answers(t, bytes.Join(contents, nil))
			if packer.format == "zstd" {
				file.params = []string{"concurrency=1"}
				file.answers(t, bytes.Join(contents, nil))
			}
		}
	})
}
