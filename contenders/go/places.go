package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync/atomic"
)

// Blocks at places of a file: the list of them, and the method that reads the block at each with
// ReadAt. So many reads are in flight as there are goroutines, each with a slice of its own; the
// runtime has a thread for every one that waits in the kernel.

// The word that says that the target is a list of places.
const placesWord = "places=1"

var errBrokenPlaces = errors.New("a list of places is not complete, or its blocks are not of 1 byte to 1 GiB")

// A places is blocks of one file, by the offsets at which they begin and by their lengths.
type places struct {
	path string
	// Length of the longest block.
	longest uint64
	offsets []int64
	// Length of each block; empty if all blocks have the same length.
	lengths []uint64
}

// parsePlaces reads a list: the path of the file, which a zero byte ends, the bytes of a block, and
// the offsets. If the bytes of a block are 0, each offset is followed by the length of its block.
// Numbers have 64 bits, the lowest byte first.
func parsePlaces(list string) (places, error) {
	content, err := os.ReadFile(list)
	if err != nil {
		return places{}, err
	}
	broken := &fs.PathError{Op: "read", Path: list, Err: errBrokenPlaces}
	end := bytes.IndexByte(content, 0)
	numbers := make([]uint64, (len(content)-end-1)/8)
	if end < 1 || len(numbers) == 0 || len(content) != end+1+8*len(numbers) {
		return places{}, broken
	}
	for i := range numbers {
		numbers[i] = binary.LittleEndian.Uint64(content[end+1+8*i:])
	}
	found, numbers := places{path: string(content[:end]), longest: numbers[0]}, numbers[1:]
	if found.longest > bytesMax {
		return places{}, broken
	}
	if found.longest > 0 {
		for _, offset := range numbers {
			found.offsets = append(found.offsets, int64(offset))
		}
		return found, nil
	}
	if len(numbers)%2 != 0 {
		return places{}, broken
	}
	for i := 0; i < len(numbers); i += 2 {
		length := numbers[i+1]
		if length < 1 || length > bytesMax {
			return places{}, broken
		}
		if length > found.longest {
			found.longest = length
		}
		found.offsets = append(found.offsets, int64(numbers[i]))
		found.lengths = append(found.lengths, length)
	}
	return found, nil
}

// length returns the length of the block with this number.
func (p places) length(number int64) uint64 {
	if len(p.lengths) == 0 {
		return p.longest
	}
	return p.lengths[number]
}

// at is why the block at an offset was not read.
func (p places) at(offset int64, err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &fs.PathError{Op: "read", Path: p.path, Err: fmt.Errorf("%w at byte %d", cause(err), offset)}
}

// readPlaces reads by goroutines that take places in turn. All of them have ended when it returns.
// After a failure no more places are read.
func readPlaces(r request) (answer, error) {
	type result struct {
		found *piecesTally
		err   error
	}
	file, err := os.Open(r.places.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	threads := r.params["threads"]
	if threads > len(r.places.offsets) {
		threads = len(r.places.offsets)
	}
	results := make(chan result)
	next := new(int64)
	for i := 0; i < threads; i++ {
		go func() {
			found, err := readInTurn(r, file, next)
			results <- result{found, err}
		}()
	}
	total := newPiecesTally(r)
	for i := 0; i < threads; i++ {
		of := <-results
		total.add(of.found)
		if of.err != nil {
			err = of.err
		}
	}
	return total.answer(), err
}

// readInTurn reads the block at the next place, into one slice of memory, until none is left.
func readInTurn(r request, file *os.File, next *int64) (*piecesTally, error) {
	found := newPiecesTally(r)
	longest := make([]byte, r.places.longest)
	count := int64(len(r.places.offsets))
	for number := atomic.AddInt64(next, 1) - 1; number < count; number = atomic.AddInt64(next, 1) - 1 {
		offset, block := r.places.offsets[number], longest[:r.places.length(number)]
		if _, err := file.ReadAt(block, offset); err != nil {
			atomic.StoreInt64(next, count)
			return found, r.places.at(offset, err)
		}
		found.take(uint64(number), block)
	}
	return found, nil
}
