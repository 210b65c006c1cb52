package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// A wire is the transport of a client with a view of what passes: it counts requests, notes when
// the first byte of the content arrives, and checks the head of every answer. An answer that breaks
// a rule fails the reading, even if the client would accept it. An error of the transport stays the
// client's, which may repeat the request.
type wire struct {
	transport *http.Transport
	etag      string
	course    *course
}

// begin starts a reading. No request of an earlier one runs any more.
func (w *wire) begin(start time.Time) *course {
	w.course = newCourse(start)
	return w.course
}

func (w *wire) RoundTrip(request *http.Request) (*http.Response, error) {
	course := w.course
	key := course.asks(request)
	traced := httptrace.WithClientTrace(request.Context(), course.trace())
	response, err := w.transport.RoundTrip(request.WithContext(traced))
	if err != nil {
		return nil, err
	}
	size, err := verify(request, response, w.etag)
	if err == nil {
		err = course.measures(size)
	}
	if err != nil {
		course.fail(err)
	}
	if response.StatusCode < http.StatusMultipleChoices {
		response.Body = &content{ReadCloser: response.Body, course: course, key: key}
	}
	return response, nil
}

// A content is the body of an answer that has bytes of what is read.
type content struct {
	io.ReadCloser
	course *course
	key    string
	begun  uint32
}

func (b *content) Read(buffer []byte) (int, error) {
	length, err := b.ReadCloser.Read(buffer)
	if length > 0 && atomic.SwapUint32(&b.begun, 1) == 0 {
		b.course.update(func() { took(&b.course.times.FirstByteNs, b.course.start, nil) })
	}
	if err != nil && !errors.Is(err, io.EOF) {
		b.course.loses(b.key, err)
	}
	return length, err
}

// close ends the connections.
func (w *wire) close() {
	w.transport.CloseIdleConnections()
}
