package tests

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Servers that keep the rules: answers, counts of requests, times.

const etag = `"a-strong-one"`

var noTime time.Time

// withoutCondition is a request as by a client that does not send If-Match.
func withoutCondition(request *http.Request) *http.Request {
	changed := request.Clone(request.Context())
	changed.Header.Del("If-Match")
	return changed
}

// A counter counts requests and connections, and what requests lack.
type counter struct {
	content     []byte
	requests    int64
	connections int64
	flaws       int64
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	atomic.AddInt64(&c.requests, 1)
	if r.Header.Get("If-Match") != etag || r.Header.Get("Accept-Encoding") != "identity" {
		atomic.AddInt64(&c.flaws, 1)
	}
	w.Header().Set("ETag", etag)
	http.ServeContent(w, r, "", noTime, bytes.NewReader(c.content))
}

// start serves over TLS, with HTTP/2 if it is asked for.
func (c *counter) start(t *testing.T) *httptest.Server {
	server := httptest.NewUnstartedServer(c)
	server.EnableHTTP2 = true
	server.Config.ConnState = countConnections(&c.connections)
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func (m message) isRight(content []byte) bool {
	return m.WallNs > 0 && m.Bytes != nil && *m.Bytes == int64(len(content)) &&
		m.Newlines != nil && *m.Newlines == int64(bytes.Count(content, []byte{'\n'}))
}

func TestAnswersAreRightAndRequestsAreCounted(t *testing.T) {
	for _, length := range []int{0, 1, 65535, 65536, 65537, 200_000, 655_360} {
		everyMethod(t, func(t *testing.T, method string) {
			for _, version := range []string{" http=1", " http=2"} {
				isReadRightly(t, method+version, length)
			}
		})
	}
}

// isReadRightly tests two readings of a content of this length over TLS.
func isReadRightly(t *testing.T, method string, length int) {
	served := &counter{content: text(length)}
	server := served.start(t)
	samples, last := reads(t, method, server.URL+"/a/file", "READLAB_ETAG="+etag,
		"READLAB_CACERT="+trusted(t, server))
	if len(samples) != 2 || !samples[0].isRight(served.content) || !samples[1].isRight(served.content) {
		t.Fatalf("%d bytes, %s: %d samples, %+v", length, method, len(samples), last)
	}
	first, second := samples[0], samples[1]
	if said := *first.Requests + *second.Requests; said != served.requests {
		t.Errorf("%d bytes, %s: it says %d requests, the server saw %d", length, method, said, served.requests)
	}
	if *first.Retries != 0 || *second.Retries != 0 || served.flaws > 0 {
		t.Errorf("%d bytes, %s: %d and %d retries, %d requests without a header", length, method,
			*first.Retries, *second.Retries, served.flaws)
	}
	if first.ConnectNs == nil || first.TLSNs == nil || (first.FirstNs == nil) != (length == 0) {
		t.Errorf("%d bytes, %s: times are missing: %+v", length, method, first)
	}
	if kept := strings.Contains(method, "kept=1"); (second.ConnectNs == nil) != kept {
		t.Errorf("%d bytes, %s: the second reading connects: %v", length, method, !kept)
	}
}

func TestConnectionsAreKeptOrClosed(t *testing.T) {
	for method, expected := range map[string]int64{
		"http.Client": 2, "http.Client kept=1": 1,
		"http.Client-ranged part_bytes=65536 concurrency=1":        2,
		"http.Client-ranged part_bytes=65536 concurrency=1 kept=1": 1,
	} {
		served := &counter{content: content}
		server := served.start(t)
		reads(t, method, server.URL, "READLAB_ETAG="+etag, "READLAB_CACERT="+trusted(t, server))
		if made := atomic.LoadInt64(&served.connections); made != expected {
			t.Errorf("%s: %d connections, expected %d", method, made, expected)
		}
	}
}

// A kept connection that the server has closed is made again by the transport: the request that it
// repeats is no second one of the contender's, and both are counted.
func TestRepeatedRequestsAreCounted(t *testing.T) {
	var requests int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if atomic.AddInt64(&requests, 1) == 2 {
			connection, _, _ := w.(http.Hijacker).Hijack()
			_ = connection.Close()
			return
		}
		_, _ = w.Write(content)
	}))
	defer server.Close()
	samples, last := reads(t, "http.Client kept=1", server.URL)
	if len(samples) != 2 || *samples[1].Requests != 2 || *samples[1].Retries != 1 {
		t.Fatalf("%d samples, %+v", len(samples), last)
	}
}

func TestHTTP2NeedsAServerThatHasIt(t *testing.T) {
	plain := httptest.NewServer(&counter{content: content})
	defer plain.Close()
	fails(t, "http.Client http=2", plain.URL, "http=2 needs encryption")
	old := httptest.NewTLSServer(&counter{content: content})
	defer old.Close()
	fails(t, "http.Client http=2", old.URL, "the answer is HTTP/1.1", "READLAB_CACERT="+trusted(t, old))
}
