package tests

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Servers that break a rule. What a method reads from each must be a failure with its reason, never
// a wrong answer.

var content = text(200_000)

func isRanged(request *http.Request) bool {
	return request.Header.Get("Range") != ""
}

// partial answers a range with words of our choice.
func partial(w http.ResponseWriter, contentRange string, body []byte) {
	w.Header().Set("Content-Range", contentRange)
	w.WriteHeader(http.StatusPartialContent)
	_, _ = w.Write(body)
}

// inChunks answers with the only range there is, without Content-Length, with as many bytes as we choose.
func inChunks(length int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Range", "bytes 0-65535/65536")
		w.WriteHeader(http.StatusPartialContent)
		w.(http.Flusher).Flush()
		_, _ = w.Write(content[:length])
	}
}

// refuse answers as stores do, and repeats secrets as some stores do.
func refuse(status int, code string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>not to %s</Message></Error>", code, id)
	}
}

var faults = []struct {
	name   string
	words  string
	ranged bool // only for methods that request ranges
	answer http.HandlerFunc
}{
	{"another range", "was answered with", true, func(w http.ResponseWriter, r *http.Request) {
		partial(w, fmt.Sprintf("bytes 1-65536/%d", len(content)), content[1:65537])
	}},
	{"a shorter range", "was answered with", true, func(w http.ResponseWriter, r *http.Request) {
		partial(w, fmt.Sprintf("bytes 0-99/%d", len(content)), content[:100])
	}},
	{"chunks with fewer bytes than its range", "1000 of 65536 bytes arrived", true, inChunks(1000)},
	{"chunks with more bytes than its range", "66000 of 65536 bytes arrived", true, inChunks(66000)},
	{"a range without saying which", "does not state its range", true,
		func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusPartialContent)
			_, _ = w.Write(content[:65536])
		}},
	{"the whole instead of a range", "200 OK", true, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(content)
	}},
	{"a part of another size", "changed", true, func(w http.ResponseWriter, r *http.Request) {
		var first, last int
		_, _ = fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last)
		size := len(content)
		if first > 0 {
			size++
		}
		if last >= size {
			last = size - 1
		}
		partial(w, fmt.Sprintf("bytes %d-%d/%d", first, last, size), make([]byte, last-first+1))
	}},
	{"gzip", "encoding \"gzip\"", false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		zipped := gzip.NewWriter(w)
		_, _ = zipped.Write(content)
		_ = zipped.Close()
	}},
	{"a body cut off", "EOF", false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "65536")
		if isRanged(r) {
			w.Header().Set("Content-Range", "bytes 0-65535/65536")
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(content[:1000])
	}},
	{"chunks cut off", "EOF", false, func(w http.ResponseWriter, r *http.Request) {
		if isRanged(r) {
			w.Header().Set("Content-Range", "bytes 0-65535/65536")
			w.WriteHeader(http.StatusPartialContent)
		}
		_, _ = w.Write(content[:1000])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}},
	{"another ETag", "ETag", false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"new"`)
		http.ServeContent(w, withoutCondition(r), "", noTime, strings.NewReader(string(content)))
	}},
	{"a condition that fails", "412 Precondition Failed", false,
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", `"new"`)
			http.ServeContent(w, r, "", noTime, strings.NewReader(string(content)))
		}},
	{"a redirect", "redirects are not followed", false, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere?"+id, http.StatusFound)
	}},
	{"a redirect nowhere", "redirects are not followed", false,
		func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://%zz?"+id)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}},
	{"503 forever", "503 Service Unavailable (SlowDown)", false,
		refuse(http.StatusServiceUnavailable, "SlowDown")},
	{"no such key", "404 Not Found (NoSuchKey)", false, refuse(http.StatusNotFound, "NoSuchKey")},
	{"a wrong signature", "403 Forbidden (SignatureDoesNotMatch)", false,
		refuse(http.StatusForbidden, "SignatureDoesNotMatch")},
	{"nothing to see", "204 No Content", false, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}},
}

func TestFaultsAreFailures(t *testing.T) {
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			server := httptest.NewServer(dated(fault.answer))
			defer server.Close()
			everyMethod(t, func(t *testing.T, method string) {
				if !fault.ranged || requestsRanges(method) {
					fails(t, method, server.URL, fault.words, `READLAB_ETAG="old"`)
				}
			})
		})
	}
}

func TestAServerThatIsGoneIsAFailure(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	everyMethod(t, func(t *testing.T, method string) {
		fails(t, method, server.URL, "connection refused")
	})
}
