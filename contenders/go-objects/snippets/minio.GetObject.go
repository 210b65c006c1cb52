// needs: the module minio-go
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const bufferBytes = 65536 // = buffer_bytes

// Counts the newlines of s3://BUCKET/KEY, one Read at a time into one slice.
func main() {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(os.Args[1], "s3://"), "/")
	endpoint, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL_S3"))
	if err != nil {
		log.Fatal(err)
	}
	client, err := minio.New(endpoint.Host, &minio.Options{
		Creds: credentials.NewEnvAWS(), Secure: endpoint.Scheme == "https", Region: os.Getenv("AWS_REGION"),
	})
	if err != nil {
		log.Fatal(err)
	}
	object, err := client.GetObject(context.Background(), bucket, key, minio.GetObjectOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer object.Close()
	buffer := make([]byte, bufferBytes)
	newlines := 0
	for {
		length, err := object.Read(buffer)
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
