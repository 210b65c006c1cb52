package main

import (
	"bufio"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"io"
	"os"
)

// The methods that decode compressed files.

func readByGzip(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	source := bufio.NewReader(file)
	decoder, err := gzip.NewReader(source)
	if err != nil {
		return answer{}, early(err)
	}
	defer decoder.Close()
	decoder.Multistream(false)
	found, err := drain(r, &gzipMembers{source, decoder})
	return found, early(err)
}

// gzipMembers decodes one member of a gzip after the other. Zeros after the last one are padding, as gzip takes them; a
// decoder in Go takes them for the start of a member.
type gzipMembers struct {
	file    *bufio.Reader
	decoder memberDecoder
}

type memberDecoder interface {
	io.Reader
	Reset(io.Reader) error
	Multistream(bool)
}

func (m *gzipMembers) Read(buffer []byte) (int, error) {
	length, err := m.decoder.Read(buffer)
	if err != io.EOF {
		return length, err
	}
	if err := skipPadding(m.file); err != nil {
		return length, err
	}
	if err := m.decoder.Reset(m.file); err != nil {
		return length, early(err)
	}
	m.decoder.Multistream(false)
	return length, nil
}

// skipPadding skips zeros; after them the file must end.
func skipPadding(file *bufio.Reader) error {
	for isPadded := false; ; isPadded = true {
		next, err := file.ReadByte()
		switch {
		case err != nil:
			return err
		case next != 0 && isPadded:
			return errors.New("gzip: bytes follow the zeros after the last member")
		case next != 0:
			return file.UnreadByte()
		}
	}
}

func readByBzip2(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	return drain(r, padded{bzip2.NewReader(file)})
}

// padded takes what begins no other stream for padding, as bzip2 does.
type padded struct{ streams io.Reader }

func (p padded) Read(into []byte) (int, error) {
	length, err := p.streams.Read(into)
	if err == bzip2.StructuralError("bad magic value in continuation file") {
		err = io.EOF
	}
	return length, err
}

// early is the error of a file that ends before its first member does: an end of the file alone would be no error.
func early(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
