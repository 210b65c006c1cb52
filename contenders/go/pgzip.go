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
	buffered := bufio.NewReader(source)
	decoder, err := pgzip.NewReader(buffered)
	if err != nil {
		return answer{}, early(err)
	}
	defer decoder.Close()
	decoder.Multistream(false)
	return drainDecoder(r, file, &gzipMembers{buffered, &pgzipMember{decoder, source}})
}

// pgzipMember fails if the file ends within a member: a pgzip.Reader takes an end between some fields for that of the
// file.
type pgzipMember struct {
	*pgzip.Reader
	source *endReader
}

func (m *pgzipMember) Read(buffer []byte) (int, error) {
	length, err := m.Reader.Read(buffer)
	if err == io.EOF && m.source.ends > 0 {
		return length, io.ErrUnexpectedEOF
	}
	return length, err
}
