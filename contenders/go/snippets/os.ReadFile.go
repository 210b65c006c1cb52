// usual: yes
package main

import "os"

// total counts over the file's bytes, the whole of which lie in memory.
func total(path string, count func([]byte) int) (int, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	return count(bytes), nil
}
