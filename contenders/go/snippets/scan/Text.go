package main

import "bufio"

// visit has the line as a string of its own.
func visit(scanner *bufio.Scanner) {
	line := scanner.Text()
	_ = line
}
