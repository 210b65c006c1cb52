package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
)

// A client is an http.Client and its connections. It has the defaults of net/http, except that
// it follows no redirect, takes no proxy and no encoding, and keeps as many connections as it uses.
type client struct {
	http    *http.Client
	wire    *wire
	version int
}

func newClient(r request) *client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.DisableCompression = true
	transport.TLSClientConfig = r.server.tls()
	transport.MaxIdleConns = 0
	transport.MaxIdleConnsPerHost = 1
	if atOnce, ranged := r.params["concurrency"]; ranged {
		transport.MaxIdleConnsPerHost = atOnce
	} else if r.params["kept"] == 0 {
		transport.DisableKeepAlives = true
	}
	if r.params["http"] == 1 {
		// An empty map, not nil, keeps version 2 from being agreed on.
		transport.ForceAttemptHTTP2 = false
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	wire := &wire{transport: transport, etag: r.server.etag}
	follow := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client{&http.Client{Transport: wire, CheckRedirect: follow}, wire, r.params["http"]}
}

// get requests the URL; of a range, its bytes. The wire checks the rest of the answer's head.
func (c *client) get(ctx context.Context, r request, byteRange string) (io.ReadCloser, error) {
	request := &http.Request{Method: http.MethodGet, URL: r.address.url, Header: http.Header{}}
	request.Header.Set("Accept-Encoding", "identity")
	if r.server.etag != "" {
		request.Header.Set("If-Match", r.server.etag)
	}
	if byteRange != "" {
		request.Header.Set("Range", byteRange)
	}
	response, err := c.http.Do(request.WithContext(ctx))
	if err != nil {
		return nil, err
	}
	if response.ProtoMajor != c.version {
		err = fmt.Errorf("the answer is %s, not of version %d", response.Proto, c.version)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("the answer has the status %s", statusName(response.StatusCode))
	}
	if err != nil {
		response.Body.Close()
		return nil, err
	}
	return response.Body, nil
}
