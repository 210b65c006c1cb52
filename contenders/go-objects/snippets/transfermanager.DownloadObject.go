// needs: the modules aws-sdk-go-v2/config, aws-sdk-go-v2/service/s3 and aws-sdk-go-v2/feature/s3/transfermanager
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"sync/atomic"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const (
	partBytes   = 8388608 // = part_bytes
	concurrency = 8       // = concurrency
)

// A counter counts newlines as they arrive, in any order.
type counter struct{ newlines atomic.Int64 }

func (c *counter) WriteAt(chunk []byte, _ int64) (int, error) {
	c.newlines.Add(int64(bytes.Count(chunk, []byte{'\n'})))
	return len(chunk), nil
}

// Counts the newlines of s3://BUCKET/KEY, some ranges at once.
func main() {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(os.Args[1], "s3://"), "/")
	ctx := context.Background()
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		log.Fatal(err)
	}
	manager := transfermanager.New(s3.NewFromConfig(settings), func(o *transfermanager.Options) {
		o.GetObjectType = types.GetObjectRanges
		o.PartSizeBytes = partBytes
		o.Concurrency = concurrency
		o.PartBodyMaxRetries = 1 // A part that is written again would be counted twice.
	})
	var found counter
	_, err = manager.DownloadObject(ctx, &transfermanager.DownloadObjectInput{
		Bucket: &bucket, Key: &key, WriterAt: &found,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(found.newlines.Load())
}
