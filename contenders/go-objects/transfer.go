package main

import (
	"fmt"
	"sync"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager/types"
)

// The AWS SDK's transfermanager, which took the place of its manager. It writes what arrives at its
// place in the object, several parts at once and each in order. If a part's body ends early it
// requests the part again and writes it from its beginning, so each part has a tally of its own.

func readByTransferManager(r request, s store, c *course) (*tally, error) {
	from := s.(*awsStore)
	pieces := &visitor{request: r, step: int64(r.params["part_bytes"]), parts: map[int64]*tally{}}
	manager := transfermanager.New(from.client, func(o *transfermanager.Options) {
		o.GetObjectType = types.GetObjectRanges
		o.PartSizeBytes = pieces.step
		o.Concurrency = r.params["concurrency"]
	})
	_, err := manager.DownloadObject(c.ctx, &transfermanager.DownloadObjectInput{
		Bucket: &from.object.bucket, Key: &from.object.key, IfMatch: from.etag, WriterAt: pieces,
	})
	return pieces.total(), err
}

// A visitor visits the parts of an object as they are written, and keeps no bytes.
type visitor struct {
	request request
	step    int64

	mutex sync.Mutex
	parts map[int64]*tally
}

// WriteAt takes a piece of a part; different parts are written at once.
func (v *visitor) WriteAt(chunk []byte, offset int64) (int, error) {
	found := v.part(offset)
	within := offset % v.step
	if uint64(within) != found.bytes || within+int64(len(chunk)) > v.step {
		return 0, fmt.Errorf("%d bytes were written out of order at byte %d", len(chunk), offset)
	}
	found.take(chunk)
	return len(chunk), nil
}

// part is the tally of the part with this byte: a new one at the part's beginning.
func (v *visitor) part(offset int64) *tally {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	found := v.parts[offset/v.step]
	if found == nil || offset%v.step == 0 {
		found = newTally(v.request)
		v.parts[offset/v.step] = found
	}
	return found
}

// total is all parts together.
func (v *visitor) total() *tally {
	v.mutex.Lock()
	defer v.mutex.Unlock()
	sum := newTally(v.request)
	for _, part := range v.parts {
		sum.add(part)
	}
	return sum
}
