package tests

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/klauspost/pgzip"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// A packer compresses in one way: with a program, or without a command with the writer of a module.
type packer struct {
	format  string
	command string
	// Whether a checksum of the content is kept.
	checked bool
}

var packers = []packer{
	{"gzip", "", true},
	{"gzip", "gzip -c", true},
	{"gzip", "bgzip -c", true},
	{"zstd", "", true},
	{"zstd", "zstd -c -q", true},
	{"zstd", "zstd -c -q -12 --no-check", false},
	{"lz4", "", true},
	{"lz4", "lz4 -c -q", true},
	{"lz4", "lz4 -c -q -B5 -BD -BX", true},
	{"lz4", "lz4 -c -q -9 --no-frame-crc", false},
	{"xz", "", true},
	{"xz", "xz -c -1", true},
	{"xz", "xz -c -1 --block-size=10000 --check=sha256", true},
	{"xz", "xz -c -1 --check=none", false},
	{"snappy", "", true},
	{"brotli", "", false},
	{"brotli", "brotli -c -q 5", false},
	{"brotli", "brotli -c -q 1 -w 24", false},
}

// writer is that of a format's module, for so many bytes.
func writer(format string, to io.Writer, length int) (io.WriteCloser, error) {
	switch format {
	case "gzip":
		// With every field of a header.
		gzip := pgzip.NewWriter(to)
		gzip.Name, gzip.Comment, gzip.Extra = "a name", "a comment", []byte("some bytes")
		return gzip, nil
	case "zstd":
		return zstd.NewWriter(to)
	case "lz4":
		frame := lz4.NewWriter(to)
		return frame, frame.Apply(lz4.SizeOption(uint64(length)), lz4.BlockChecksumOption(true))
	case "xz":
		return xz.NewWriter(to)
	case "snappy":
		// It writes nothing of no bytes.
		if length == 0 {
			_, _ = to.Write([]byte("\xff\x06\x00\x00sNaPpY"))
		}
		return snappy.NewBufferedWriter(to), nil
	}
	return brotli.NewWriter(to), nil
}

// eachPacker is a test of each packer whose program is here.
func eachPacker(t *testing.T, test func(*testing.T, packer)) {
	for _, packer := range packers {
		name := packer.format + "-" + strings.ReplaceAll(packer.command, " ", "")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if packer.command != "" {
				needs(t, strings.Fields(packer.command)[0])
			}
			test(t, packer)
		})
	}
}

// needs skips a test, visibly, without a program.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		fmt.Fprintf(os.Stderr, "SKIPPED: %s: no %s on the PATH\n", t.Name(), program)
		t.SkipNow()
	}
}

// pack compresses content.
func (p packer) pack(t *testing.T, content []byte) []byte {
	t.Helper()
	if p.command != "" {
		return run(t, content, strings.Fields(p.command)...)
	}
	var packed bytes.Buffer
	to, err := writer(p.format, &packed, len(content))
	if err == nil {
		_, err = to.Write(content)
	}
	if err == nil {
		err = to.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// run is what a program makes of its input.
func run(t *testing.T, input []byte, words ...string) []byte {
	t.Helper()
	command := exec.Command(words[0], words[1:]...)
	command.Stdin = bytes.NewReader(input)
	var failure bytes.Buffer
	command.Stderr = &failure
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", words, err, failure.String())
	}
	return output
}
