// needs: the module minio-go
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

const (
	partBytes   = 8388608 // = part_bytes
	concurrency = 8       // = concurrency
)

// An object, of which all ranges must be of one version.
type object struct {
	client            *minio.Client
	bucket, key, etag string
}

// part has the bytes of one range.
func (o object) part(first, last int64) ([]byte, error) {
	var options minio.GetObjectOptions
	if err := options.SetMatchETag(o.etag); err != nil {
		return nil, err
	}
	if err := options.SetRange(first, last); err != nil {
		return nil, err
	}
	found, err := o.client.GetObject(context.Background(), o.bucket, o.key, options)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	return io.ReadAll(found)
}

// Counts the newlines of s3://BUCKET/KEY, some ranges at once.
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
	about, err := client.StatObject(context.Background(), bucket, key, minio.StatObjectOptions{})
	if err != nil {
		log.Fatal(err)
	}
	from := object{client, bucket, key, about.ETag}
	starts := make(chan int64)
	var newlines atomic.Int64
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			for first := range starts {
				content, err := from.part(first, min(first+partBytes, about.Size)-1)
				if err != nil {
					log.Fatal(err)
				}
				newlines.Add(int64(bytes.Count(content, []byte{'\n'})))
			}
		})
	}
	for first := int64(0); first < about.Size; first += partBytes {
		starts <- first
	}
	close(starts)
	workers.Wait()
	fmt.Println(newlines.Load())
}
