// usual: yes
package main

import (
	"bufio"
	"os"
)

const lineBytesMax = 65536 // = line_bytes_max

// lines counts lines and visits each; one that is longer than this ends it with an error.
func lines(path string, visit func(*bufio.Scanner)) (int, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, lineBytesMax)
	count := 0
	for scanner.Scan() {
		visit(scanner)
		count++
	}
	return count, scanner.Err()
}
