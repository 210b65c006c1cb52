package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// A server is what the environment says about the server that is read: the ETag that the content
// must have, and the certificates that are trusted instead of those of the system.
type server struct {
	etag  string
	trust *x509.CertPool
}

func serverOfEnvironment() (server, error) {
	found := server{etag: os.Getenv("READLAB_ETAG")}
	path := os.Getenv("READLAB_CACERT")
	if path == "" {
		return found, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return server{}, fmt.Errorf("READLAB_CACERT: %s: %w", path, cause(err))
	}
	found.trust = x509.NewCertPool()
	if !found.trust.AppendCertsFromPEM(text) {
		return server{}, fmt.Errorf("READLAB_CACERT: %s: it has no certificate", path)
	}
	return found, nil
}

// tls has a trust of nil for that of the system.
func (s server) tls() *tls.Config {
	return &tls.Config{RootCAs: s.trust, MinVersion: tls.VersionTLS12}
}
