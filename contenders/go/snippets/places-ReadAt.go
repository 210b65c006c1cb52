// usual: yes
package main

import (
	"os"
	"sync/atomic"
)

const blockBytes = 4096
const threads = 1 // = threads

// total adds up count over the blocks at these offsets, in any order: goroutines take the next
// place until none is left.
func total(path string, offsets []int64, count func([]byte) int) (int, error) {
	type result struct {
		sum int
		err error
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	next := new(int64)
	results := make(chan result)
	for i := 0; i < threads; i++ {
		go func() {
			var found result
			block := make([]byte, blockBytes)
			for found.err == nil {
				number := atomic.AddInt64(next, 1) - 1
				if number >= int64(len(offsets)) {
					break
				}
				if _, found.err = file.ReadAt(block, offsets[number]); found.err == nil {
					found.sum += count(block)
				}
			}
			results <- found
		}()
	}
	sum := 0
	for i := 0; i < threads; i++ {
		found := <-results
		sum += found.sum
		if found.err != nil {
			err = found.err
		}
	}
	return sum, err
}
