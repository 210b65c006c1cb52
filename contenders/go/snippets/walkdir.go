// usual: yes
package main

import (
	"io/fs"
	"os"
	"path/filepath"
)

// total adds up count over every regular file below a folder. Links are not followed.
func total(folder string, count func([]byte) int) (int, error) {
	sum := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		bytes, err := os.ReadFile(path)
		sum += count(bytes)
		return err
	})
	return sum, err
}
