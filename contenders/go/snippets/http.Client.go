// usual: yes
package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
)

const bufferBytes = 65536 // = buffer_bytes

// Counts the newlines of a URL, one Read at a time into one slice.
func main() {
	response, err := http.Get(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	buffer := make([]byte, bufferBytes)
	newlines := 0
	for {
		length, err := response.Body.Read(buffer)
		newlines += bytes.Count(buffer[:length], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(newlines)
}
