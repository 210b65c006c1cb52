package tests

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"
)

// Archives that are broken. What a method reads from each must be a failure that names the file,
// never a wrong answer.

// Two frames, and what is skipped between them, are cut at every byte. Between them the file is
// whole; of snappy also after the identifier of a stream, because its frames have no end.
func TestAFileThatIsCutFails(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		content := []byte("one\ntwo\nthree")
		first := packer.pack(t, content)
		archive := append(bytes.Clone(first), between[packer.format]...)
		second := len(archive)
		whole := map[int][]byte{len(first): content, second: content}
		archive = append(archive, first...)
		if packer.format == "snappy" {
			whole[10], whole[second+10] = nil, content
		}
		if packer.format == "xz" {
			whole[second-4] = content
		}
		if packer.format == "brotli" {
			archive, whole = first, nil
		}
		if packer.command == "bgzip -c" {
			// After its member it has an empty one.
			whole[len(first)-28], whole[2*len(first)-28] = content, bytes.Repeat(content, 2)
		}
		for cut := range archive {
			file := of(t, packer.format, archive[:cut])
			if content, isWhole := whole[cut]; isWhole {
				file.answers(t, content)
			} else {
				file.fails(t, "")
			}
		}
	})
}

func TestALargeFileThatIsCutFails(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		archive := packer.pack(t, text(1_000_000))
		for _, missing := range []int{1, 4, 8, 10, 1000, len(archive) / 2} {
			of(t, packer.format, archive[:len(archive)-missing]).fails(t, "")
		}
	})
}

func TestBytesAfterTheEndFail(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		others := []string{"x", "\x00", "xy", "xyz", "abcd", "other bytes\n", "\x00\x00\x00x"}
		for _, length := range []int{0, 13, 100_000} {
			archive := packer.pack(t, text(length))
			for _, other := range others {
				if packer.format == "gzip" && strings.Trim(other, "\x00") == "" {
					continue // Padding.
				}
				longer := append(bytes.Clone(archive), other...)
				of(t, packer.format, longer).fails(t, "")
			}
		}
	})
}

// The module has a buffer of 32 KiB: the archive ends where it does.
func TestBytesAfterABrotliThatFillsTheBufferFail(t *testing.T) {
	random := make([]byte, 32<<10)
	rand.New(rand.NewSource(7)).Read(random)
	brotli := packer{format: "brotli"}
	for length := len(random) - 40; length <= len(random); length++ {
		archive := brotli.pack(t, random[:length])
		if len(archive) == 32<<10 {
			of(t, "brotli", archive).answers(t, random[:length])
			of(t, "brotli", append(archive, 'x')).fails(t, "")
			return
		}
	}
	t.Error("no content is compressed to 32 KiB")
}

// The highest bit is left out: with it, a chunk of snappy is one of those that are skipped, as the
// format has it.
func TestChangedBytesAreNeverAWrongAnswer(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		if !packer.checked {
			return
		}
		content := bytes.Repeat([]byte("one line\n"), 20)
		archive := packer.pack(t, content)
		for at := range archive {
			changed := bytes.Clone(archive)
			changed[at] ^= 1 << (at % 7)
			of(t, packer.format, changed).isNeverWrong(t, content)
		}
	})
}

func TestALargeFileWithAChangedByteFails(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		if !packer.checked {
			return
		}
		archive := packer.pack(t, text(1_000_000))
		archive[len(archive)/2] ^= 0x10
		file := of(t, packer.format, archive)
		file.fails(t, "")
		if packer.format == "zstd" {
			file.params = []string{"concurrency=1"}
			file.fails(t, "")
		}
	})
}

func TestAnotherFormatFails(t *testing.T) {
	eachPacker(t, func(t *testing.T, packer packer) {
		archive := packer.pack(t, text(1000))
		for format := range methods {
			if format != packer.format {
				of(t, format, archive).fails(t, "")
			}
		}
	})
}
