package tests

import (
	"bytes"
	"fmt"
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
	signer      string
}

func (c *counter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	atomic.AddInt64(&c.requests, 1)
	if r.Header.Get("If-Match") != etag || r.Header.Get("Accept-Encoding") != "identity" ||
		r.URL.Path != path || !strings.Contains(r.Header.Get("Authorization"), c.signer) {
		atomic.AddInt64(&c.flaws, 1)
	}
	w.Header().Set("ETag", etag)
	http.ServeContent(w, r, "", noTime, bytes.NewReader(c.content))
}

// start serves over TLS.
func (c *counter) start(t *testing.T) *httptest.Server {
	server := httptest.NewUnstartedServer(dated(c.ServeHTTP))
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
		everyMethod(t, func(t *testing.T, method string) { isReadRightly(t, method, length) })
	}
}

// isReadRightly tests two readings of an object of this length over TLS.
func isReadRightly(t *testing.T, method string, length int) {
	served := &counter{content: text(length), signer: "Credential=" + id}
	server := served.start(t)
	samples, last := reads(t, method, server.URL, "READLAB_ETAG="+etag,
		"READLAB_CACERT="+trusted(t, server))
	if len(samples) != 2 || !samples[0].isRight(served.content) || !samples[1].isRight(served.content) {
		t.Fatalf("%d bytes: %d samples, %+v", length, len(samples), last)
	}
	first, second := samples[0], samples[1]
	if said := *first.Requests + *second.Requests; said != served.requests {
		t.Errorf("%d bytes: it says %d requests, the server saw %d", length, said, served.requests)
	}
	if *first.Retries != 0 || *second.Retries != 0 || served.flaws > 0 {
		t.Errorf("%d bytes: %d and %d retries, %d requests without a header", length,
			*first.Retries, *second.Retries, served.flaws)
	}
	if first.ConnectNs == nil || first.TLSNs == nil || (first.FirstNs == nil) != (length == 0) {
		t.Errorf("%d bytes: times are missing: %+v", length, first)
	}
	// Requests at once may need more connections than the first reading did. An empty object leaves
	// it to the library whether it reads all of the answer that refuses the range.
	if strings.Contains(method, "concurrency=3") || length == 0 {
		return
	}
	if kept := !strings.Contains(method, "kept=0"); (second.ConnectNs == nil) != kept {
		t.Errorf("%d bytes: the second reading connects: %v", length, !kept)
	}
}

func TestRequestsWithoutCredentialsAreNotSigned(t *testing.T) {
	everyMethod(t, func(t *testing.T, method string) {
		var signed int64
		server := httptest.NewServer(dated(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" || r.URL.Query().Has("X-Amz-Signature") {
				atomic.AddInt64(&signed, 1)
			}
			http.ServeContent(w, r, "", noTime, bytes.NewReader(content))
		}))
		defer server.Close()
		samples, last := reads(t, method, server.URL, "AWS_SECRET_ACCESS_KEY=")
		if len(samples) != 2 || signed > 0 {
			t.Errorf("%d samples, %d requests signed, %+v", len(samples), signed, last)
		}
	})
}

// A library repeats a request by its own rules; that is counted, and no byte is counted twice.
func TestRepeatedRequestsAreCounted(t *testing.T) {
	everyMethod(t, func(t *testing.T, method string) {
		var requests int64
		server := httptest.NewServer(dated(func(w http.ResponseWriter, r *http.Request) {
			if atomic.AddInt64(&requests, 1) == 1 {
				refuse(http.StatusServiceUnavailable, "SlowDown")(w, r)
				return
			}
			http.ServeContent(w, r, "", noTime, bytes.NewReader(content))
		}))
		defer server.Close()
		samples, last := reads(t, method, server.URL)
		if len(samples) != 2 || !samples[0].isRight(content) || *samples[0].Retries != 1 ||
			*samples[1].Retries != 0 {
			t.Errorf("%d samples, %+v", len(samples), last)
		}
	})
}

// The transfermanager requests a part again whose body was cut off, and writes it again.
func TestAPartThatIsWrittenAgainCountsOnce(t *testing.T) {
	var cut int64
	server := httptest.NewServer(dated(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Range"), "bytes=65536-") && atomic.AddInt64(&cut, 1) == 1 {
			w.Header().Set("Content-Length", "65536")
			partial(w, fmt.Sprintf("bytes 65536-131071/%d", len(content)), content[65536:100_000])
			return
		}
		http.ServeContent(w, r, "", noTime, bytes.NewReader(content))
	}))
	defer server.Close()
	samples, last := reads(t, "transfermanager.DownloadObject part_bytes=65536 concurrency=3", server.URL)
	if len(samples) != 2 || !samples[0].isRight(content) || *samples[0].Retries != 1 {
		t.Errorf("%d samples, %+v", len(samples), last)
	}
}

func TestTheEnvironmentMustBeWhole(t *testing.T) {
	for _, missing := range []string{"AWS_ENDPOINT_URL_S3", "AWS_REGION", "READLAB_S3_STYLE"} {
		fails(t, "GetObject", "http://127.0.0.1:9", missing, missing+"=")
	}
}
