package main

import (
	"context"
	"io"
	"net/http"
)

// A store is the client of a library, for one bucket and key. Its requests pass the wire.
type store interface {
	// get requests the whole object.
	get(context.Context) (io.ReadCloser, error)
	// getRange requests a range of it.
	getRange(context.Context, span) (io.ReadCloser, error)
	line() *wire
}

// read is the window of one reading: the client and the end of its connections if it is not kept,
// the requests, and a visit of every byte.
func (r request) read() (answer, error) {
	store := r.store
	if store == nil {
		var err error
		if store, err = r.method.open(r); err != nil {
			return answer{}, err
		}
		defer store.line().close()
	}
	course := store.line().begin(r.start)
	found, err := r.method.read(r, store, course)
	return course.finish(found, err)
}

func readWhole(r request, s store, c *course) (*tally, error) {
	body, err := s.get(c.ctx)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	found := newTally(r)
	return found, found.drain(body, make([]byte, r.params["buffer_bytes"]))
}

func readRanges(r request, s store, c *course) (*tally, error) {
	return readParts(r, c, s.getRange)
}

// newWire changes a library's own transport in what every contender has in common: no proxy, no
// encoding, its own trust; and no connection that is used is closed between two ranges.
func newWire(r request, transport *http.Transport) *wire {
	transport.Proxy = nil
	transport.DisableCompression = true
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = r.server.tls()
	}
	if r.server.trust != nil {
		transport.TLSClientConfig.RootCAs = r.server.trust
	}
	if atOnce := r.params["concurrency"]; atOnce > transport.MaxIdleConnsPerHost {
		transport.MaxIdleConnsPerHost = atOnce
	}
	if atOnce := r.params["concurrency"]; atOnce > transport.MaxIdleConns {
		transport.MaxIdleConns = atOnce
	}
	return &wire{transport: transport, etag: r.server.etag}
}
