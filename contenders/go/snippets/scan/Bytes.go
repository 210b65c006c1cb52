package main

import "bufio"

// visit has the line where it lies in the scanner's buffer, until the next is scanned.
func visit(scanner *bufio.Scanner) {
	line := scanner.Bytes()
	_ = line
}
