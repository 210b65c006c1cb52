package main

// count counts newlines byte by byte.
func count(chunk []byte) int {
	newlines := 0
	for _, b := range chunk {
		if b == '\n' {
			newlines++
		}
	}
	return newlines
}
