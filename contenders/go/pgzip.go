//go:build decoders

package main

import (
	"bufio"
	"io"
	"os"

	"github.com/klauspost/pgzip"
)

func readByPgzip(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	source := &endReader{from: file}
	members := &gzipMembers{source: source, file: bufio.NewReader(source)}
	if members.decoder, err = pgzip.NewReader(members.file); err != nil {
		return answer{}, early(err)
	}
	defer members.decoder.Close()
	members.decoder.Multistream(false)
	return drainDecoder(r, file, members)
}

// gzipMembers decodes one member of a gzip after the other and fails if the file ends within one: a
// pgzip.Reader that decodes all of them takes an end between some fields for that of the file.
type gzipMembers struct {
	source  *endReader
	file    *bufio.Reader
	decoder *pgzip.Reader
}

func (m *gzipMembers) Read(buffer []byte) (int, error) {
	length, err := m.decoder.Read(buffer)
	if err != io.EOF {
		return length, err
	}
	if m.source.ends > 0 {
		return length, io.ErrUnexpectedEOF
	}
	if _, err := m.file.Peek(1); err != nil {
		return length, err
	}
	if err := m.decoder.Reset(m.file); err != nil {
		return length, early(err)
	}
	m.decoder.Multistream(false)
	return length, nil
}
