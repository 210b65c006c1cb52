// needs: the modules aws-sdk-go-v2/config and aws-sdk-go-v2/service/s3
package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const (
	partBytes   = 8388608 // = part_bytes
	concurrency = 8       // = concurrency
)

// An object, of which all ranges must be of one version.
type object struct {
	client            *s3.Client
	bucket, key, etag *string
}

// part has the bytes of one range.
func (o object) part(first int64) ([]byte, error) {
	found, err := o.client.GetObject(context.Background(), &s3.GetObjectInput{
		Bucket: o.bucket, Key: o.key, IfMatch: o.etag,
		Range: aws.String(fmt.Sprintf("bytes=%d-%d", first, first+partBytes-1)),
	})
	if err != nil {
		return nil, err
	}
	defer found.Body.Close()
	return io.ReadAll(found.Body)
}

// Counts the newlines of s3://BUCKET/KEY, some ranges at once.
func main() {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(os.Args[1], "s3://"), "/")
	ctx := context.Background()
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	client := s3.NewFromConfig(settings)
	about, err := client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		log.Fatal(err)
	}
	from := object{client, &bucket, &key, about.ETag}
	starts := make(chan int64)
	var newlines atomic.Int64
	var workers sync.WaitGroup
	for range concurrency {
		workers.Go(func() {
			for first := range starts {
				content, err := from.part(first)
				if err != nil {
					log.Fatal(err)
				}
				newlines.Add(int64(bytes.Count(content, []byte{'\n'})))
			}
		})
	}
	for first := int64(0); first < *about.ContentLength; first += partBytes {
		starts <- first
	}
	close(starts)
	workers.Wait()
	fmt.Println(newlines.Load())
}
