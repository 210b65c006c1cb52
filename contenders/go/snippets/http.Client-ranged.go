package main

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sync"
)

const (
	partBytes   = 8388608 // = part_bytes
	concurrency = 8       // = concurrency
)

// part has the bytes of one range; the server must have ranges.
func part(client *http.Client, url string, first int64) ([]byte, error) {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, first+partBytes-1))
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusPartialContent {
		return nil, fmt.Errorf("range from %d: %s", first, response.Status)
	}
	return io.ReadAll(response.Body)
}

// Counts the newlines of a URL, some ranges at once.
func main() {
	url := os.Args[1]
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = concurrency
	client := &http.Client{Transport: transport}
	about, err := client.Head(url)
	if err != nil {
		log.Fatal(err)
	}
	about.Body.Close()
	starts := make(chan int64)
	counts := make(chan int)
	var workers sync.WaitGroup
	for i := 0; i < concurrency; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for first := range starts {
				content, err := part(client, url, first)
				if err != nil {
					log.Fatal(err)
				}
				counts <- bytes.Count(content, []byte{'\n'})
			}
		}()
	}
	go func() {
		for first := int64(0); first < about.ContentLength; first += partBytes {
			starts <- first
		}
		close(starts)
		workers.Wait()
		close(counts)
	}()
	newlines := 0
	for count := range counts {
		newlines += count
	}
	fmt.Println(newlines)
}
