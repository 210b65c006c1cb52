package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"sync"
	"time"
)

type tlsState = tls.ConnectionState

// A course is one reading over the network: its requests, their times, the size of the content, and
// the first thing that went wrong. Requests may run at once, so all of it is behind a lock.
type course struct {
	start  time.Time
	ctx    context.Context
	cancel context.CancelFunc

	mutex    sync.Mutex
	attempts uint64
	asked    map[string]error
	times    network
	size     int64
	flaw     error
}

// The size of a content of which no answer has said how long it is.
const sizeUnknown = -1

func newCourse(start time.Time) *course {
	ctx, cancel := context.WithCancel(context.Background())
	return &course{start: start, ctx: ctx, cancel: cancel, asked: map[string]error{}, size: sizeUnknown}
}

func (c *course) update(change func()) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	change()
}

// fail ends the reading: requests that still run are canceled. Only the first reason counts, since
// the others follow from it.
func (c *course) fail(why error) {
	c.update(func() {
		if c.flaw == nil {
			c.flaw = why
		}
	})
	c.cancel()
}

// failure is the reason for which the reading has failed, or nil.
func (c *course) failure() error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.flaw
}

// asks notes a request and returns what it is called here. One for the same bytes as an earlier one
// repeats it, and makes up for a body of the earlier one that was cut off.
func (c *course) asks(request *http.Request) string {
	key := request.Method + " " + request.URL.RequestURI() + " " + request.Header.Get("Range")
	c.update(func() { c.asked[key] = nil })
	return key
}

// loses notes that the body of a request was cut off. Some libraries pass over that.
func (c *course) loses(key string, why error) {
	c.update(func() { c.asked[key] = why })
}

// measures notes the size of the content that an answer states; all must state the same.
func (c *course) measures(size int64) error {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.size != sizeUnknown && size != sizeUnknown && c.size != size {
		return fmt.Errorf("its size changed from %d to %d bytes", c.size, size)
	}
	if size != sizeUnknown {
		c.size = size
	}
	return nil
}

// length is the size of the content, or sizeUnknown.
func (c *course) length() int64 {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return c.size
}

// finish ends the reading and is its answer, if every request of it succeeded in the end.
func (c *course) finish(found *tally, err error) (answer, error) {
	c.cancel()
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.flaw != nil {
		return answer{}, c.flaw
	}
	if err != nil {
		return answer{}, err
	}
	for _, cut := range c.asked {
		if cut != nil {
			return answer{}, cut
		}
	}
	if c.size != sizeUnknown && found.bytes != uint64(c.size) {
		return answer{}, fmt.Errorf("%d of %d bytes arrived", found.bytes, c.size)
	}
	retries := c.attempts - uint64(len(c.asked))
	proof := found.answer()
	proof.network = c.times
	proof.Requests, proof.Retries = &c.attempts, &retries
	return proof, nil
}
