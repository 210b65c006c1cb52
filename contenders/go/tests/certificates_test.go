package tests

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// Certificates that must not be trusted make a reading fail.

// silent is the log of servers whose clients refuse to speak to them.
var silent = log.New(io.Discard, "", 0)

// countConnections counts those that are new.
func countConnections(count *int64) func(net.Conn, http.ConnState) {
	return func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			atomic.AddInt64(count, 1)
		}
	}
}

// trusted is a file with the certificate of a server.
func trusted(t *testing.T, server *httptest.Server) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trusted.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(path, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// issue makes a certificate that vouches for itself.
func issue(t *testing.T, until time.Time, host string, address net.IP) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
		DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
	}
	if address != nil {
		about.IPAddresses = []net.IP{address}
	}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

func TestCertificatesAreVerified(t *testing.T) {
	here := net.IPv4(127, 0, 0, 1)
	day := 24 * time.Hour
	for name, of := range map[string]struct {
		certificate tls.Certificate
		words       string
		trust       bool
	}{
		"expired":        {issue(t, time.Now().Add(-day), "localhost", here), "expired", true},
		"of another":     {issue(t, time.Now().Add(day), "another.example", nil), "certificate", true},
		"of no one":      {issue(t, time.Now().Add(day), "localhost", here), "unknown authority", false},
		"a good one too": {issue(t, time.Now().Add(day), "localhost", here), "", true},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(&counter{content: content})
			server.TLS = &tls.Config{Certificates: []tls.Certificate{of.certificate}}
			server.Config.ErrorLog = silent
			server.StartTLS()
			defer server.Close()
			environment := []string{"READLAB_ETAG=" + etag}
			if of.trust {
				environment = append(environment, "READLAB_CACERT="+trusted(t, server))
			}
			everyMethod(t, func(t *testing.T, method string) {
				if of.words != "" {
					fails(t, method, server.URL+"/a/file", of.words, environment...)
				} else if samples, last := reads(t, method, server.URL, environment...); len(samples) != 2 {
					t.Errorf("%+v", last)
				}
			})
		})
	}
}
