// needs: the modules aws-sdk-go-v2/config and aws-sdk-go-v2/service/s3
// usual: yes
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const bufferBytes = 65536 // = buffer_bytes

// Counts the newlines of s3://BUCKET/KEY, one Read at a time into one slice.
func main() {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(os.Args[1], "s3://"), "/")
	ctx := context.Background()
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	client := s3.NewFromConfig(settings)
	object, err := client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		log.Fatal(err)
	}
	defer object.Body.Close()
	buffer := make([]byte, bufferBytes)
	newlines := 0
	for {
		length, err := object.Body.Read(buffer)
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
