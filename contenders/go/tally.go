package main

import (
	"bytes"
	"errors"
	"io"
)

// An answer is the proof of work: the numbers of a reading that the method knows. One over the
// network has those of its requests, too.
type answer struct {
	network
	Bytes    *uint64 `json:"bytes,omitempty"`
	Newlines *uint64 `json:"newlines,omitempty"`
	Lines    *uint64 `json:"lines,omitempty"`
	Sum      *byte   `json:"sum,omitempty"`
	Files    *uint64 `json:"files,omitempty"`
	Blocks   *uint64 `json:"blocks,omitempty"`
	Products *uint64 `json:"products,omitempty"`
}

// A tally is the consumer of all methods that visit bytes: it counts the bytes and does the work.
type tally struct {
	work, scan      string
	bytes, newlines uint64
	sum             byte
}

func newTally(r request) *tally {
	return &tally{work: r.work, scan: r.scan}
}

func (t *tally) take(chunk []byte) {
	t.bytes += uint64(len(chunk))
	switch {
	case t.work == "sum":
		t.sum += sum(chunk)
	case t.work == "newlines" && t.scan == "Count":
		t.newlines += uint64(bytes.Count(chunk, []byte{'\n'}))
	case t.work == "newlines":
		t.newlines += newlines(chunk)
	}
}

// Write takes what io.Copy gives.
func (t *tally) Write(chunk []byte) (int, error) {
	t.take(chunk)
	return len(chunk), nil
}

// drain takes everything that a reader has, through one buffer.
func (t *tally) drain(from io.Reader, buffer []byte) error {
	for {
		length, err := from.Read(buffer)
		t.take(buffer[:length])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// add takes what another tally of the same reading has found.
func (t *tally) add(other *tally) {
	t.bytes += other.bytes
	t.newlines += other.newlines
	t.sum += other.sum
}

func newlines(chunk []byte) (count uint64) {
	for _, b := range chunk {
		if b == '\n' {
			count++
		}
	}
	return count
}

func sum(chunk []byte) (sum byte) {
	for _, b := range chunk {
		sum += b
	}
	return sum
}

// value is what the work counts.
func (t *tally) value() uint64 {
	switch t.work {
	case "sum":
		return uint64(t.sum)
	case "newlines":
		return t.newlines
	}
	return t.bytes
}

func (t *tally) answer() answer {
	found := answer{Bytes: &t.bytes}
	switch t.work {
	case "sum":
		found.Sum = &t.sum
	case "newlines":
		found.Newlines = &t.newlines
	}
	return found
}
