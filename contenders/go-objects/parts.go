package main

import (
	"context"
	"fmt"
	"io"
	"sync"
)

// Reading an object in ranges, several at once. The first answer says how long the object is, so
// the others are requested when its head has arrived. Each worker visits bytes as they arrive, in
// one buffer of its own.

const partBufferBytes = 64 << 10

// A span is a range of bytes, both ends included.
type span struct{ first, last int64 }

func (s span) String() string {
	return fmt.Sprintf("bytes=%d-%d", s.first, s.last)
}

func (s span) length() uint64 {
	return uint64(s.last - s.first + 1)
}

// A fetch requests a range; the wire checks the head of the answer.
type fetch func(context.Context, span) (io.ReadCloser, error)

// parts is an object that is being read: its next part is for the worker that takes it.
type parts struct {
	request request
	course  *course
	get     fetch
	begun   io.ReadCloser
	step    int64
	size    int64

	mutex sync.Mutex
	next  int64
	total *tally
}

func readParts(r request, c *course, get fetch) (*tally, error) {
	step := int64(r.params["part_bytes"])
	body, err := get(c.ctx, span{0, step - 1})
	size := c.length()
	if body != nil && (size <= 0 || c.failure() != nil) {
		body.Close()
	}
	if size == 0 {
		return newTally(r), nil
	}
	if err == nil {
		err = c.failure()
	}
	if err != nil {
		return nil, err
	}
	object := &parts{request: r, course: c, get: get, begun: body, step: step, size: size, total: newTally(r)}
	object.visit()
	return object.total, c.failure()
}

// visit has as many workers as may request at once, and waits for them.
func (p *parts) visit() {
	var workers sync.WaitGroup
	for i := int64(0); i < int64(p.request.params["concurrency"]) && i*p.step < p.size; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			if err := p.work(); err != nil {
				p.course.fail(err)
			}
		}()
	}
	workers.Wait()
}

// work reads parts until none is left.
func (p *parts) work() error {
	found := newTally(p.request)
	buffer := make([]byte, partBufferBytes)
	for at, some := p.take(); some; at, some = p.take() {
		body, err := p.open(at)
		if err == nil {
			err = drainPart(body, at, buffer, found)
		}
		if err != nil {
			return fmt.Errorf("range %d-%d: %w", at.first, at.last, err)
		}
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.total.add(found)
	return nil
}

// take is the next part, and whether there is one.
func (p *parts) take() (span, bool) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	taken := span{p.next, p.next + p.step - 1}
	if taken.last > p.size-1 {
		taken.last = p.size - 1
	}
	p.next += p.step
	return taken, taken.first < p.size
}

// open is the body of a part. That of the first has been requested already.
func (p *parts) open(at span) (io.ReadCloser, error) {
	if at.first == 0 {
		return p.begun, nil
	}
	return p.get(p.course.ctx, at)
}

// drainPart visits a part's bytes and closes its body; it must have exactly its length.
func drainPart(body io.ReadCloser, at span, buffer []byte, found *tally) error {
	defer body.Close()
	before := found.bytes
	if err := found.drain(body, buffer); err != nil {
		return err
	}
	if came := found.bytes - before; came != at.length() {
		return fmt.Errorf("%d of %d bytes arrived", came, at.length())
	}
	return nil
}
