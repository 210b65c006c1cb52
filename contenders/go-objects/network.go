package main

import (
	"net/http/httptrace"
	"time"
)

// A network is what a sample says about the requests of its reading. Times are of the first
// connection that was made within the window; what did not happen is left out.
type network struct {
	DNSNs       *int64  `json:"dns_ns,omitempty"`
	ConnectNs   *int64  `json:"connect_ns,omitempty"`
	TLSNs       *int64  `json:"tls_ns,omitempty"`
	FirstByteNs *int64  `json:"first_byte_ns,omitempty"`
	Requests    *uint64 `json:"requests,omitempty"`
	Retries     *uint64 `json:"retries,omitempty"`
}

// trace has the hooks for one request. The transport calls GetConn for every attempt, also for one
// that it repeats itself because a kept connection was closed meanwhile.
func (c *course) trace() *httptrace.ClientTrace {
	var resolving, handshake time.Time
	// Several addresses may be tried at once; only one that answers counts.
	connecting := map[string]time.Time{}
	return &httptrace.ClientTrace{
		GetConn:  func(string) { c.update(func() { c.attempts++ }) },
		DNSStart: func(httptrace.DNSStartInfo) { c.update(func() { resolving = time.Now() }) },
		DNSDone: func(done httptrace.DNSDoneInfo) {
			c.update(func() { took(&c.times.DNSNs, resolving, done.Err) })
		},
		ConnectStart: func(_, address string) {
			c.update(func() { connecting[address] = time.Now() })
		},
		ConnectDone: func(_, address string, err error) {
			c.update(func() { took(&c.times.ConnectNs, connecting[address], err) })
		},
		TLSHandshakeStart: func() { c.update(func() { handshake = time.Now() }) },
		TLSHandshakeDone: func(_ tlsState, err error) {
			c.update(func() { took(&c.times.TLSNs, handshake, err) })
		},
	}
}

// took sets a time that is not known yet, if what it is about has succeeded.
func took(field **int64, since time.Time, err error) {
	if *field == nil && err == nil {
		elapsed := time.Since(since).Nanoseconds()
		*field = &elapsed
	}
}
