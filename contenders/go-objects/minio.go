package main

import (
	"context"
	"errors"
	"io"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// MinIO's client for Go, minio-go. Retries and timeouts are its defaults; it validates no checksum
// if it is not asked to.
type minioStore struct {
	core   minio.Core
	wire   *wire
	object object
	etag   string
}

func openMinio(r request) (store, error) {
	if path := r.access.endpoint.Path; path != "" && path != "/" {
		return nil, errors.New("minio-go takes no endpoint with a path")
	}
	secure := r.access.endpoint.Scheme == "https"
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	wire := newWire(r, transport)
	options := &minio.Options{
		// Without an id and a secret, requests are not signed.
		Creds:        credentials.NewStaticV4("", "", ""),
		Secure:       secure,
		Transport:    wire,
		Region:       r.access.region,
		BucketLookup: minio.BucketLookupDNS,
	}
	if r.access.isSigned() {
		options.Creds = credentials.NewStaticV4(r.access.id, r.access.secret, r.access.token)
	}
	if r.access.pathStyle {
		options.BucketLookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(r.access.endpoint.Host, options)
	if err != nil {
		return nil, err
	}
	return &minioStore{*core, wire, r.object, r.server.etag}, nil
}

func (s *minioStore) line() *wire {
	return s.wire
}

func (s *minioStore) options() minio.GetObjectOptions {
	var options minio.GetObjectOptions
	options.Set("Accept-Encoding", "identity")
	if s.etag != "" {
		options.Set("If-Match", s.etag)
	}
	return options
}

// get is the usual reader, which requests when it is first read.
func (s *minioStore) get(ctx context.Context) (io.ReadCloser, error) {
	return s.core.Client.GetObject(ctx, s.object.bucket, s.object.key, s.options())
}

func (s *minioStore) getRange(ctx context.Context, at span) (io.ReadCloser, error) {
	options := s.options()
	if err := options.SetRange(at.first, at.last); err != nil {
		return nil, err
	}
	body, _, _, err := s.core.GetObject(ctx, s.object.bucket, s.object.key, options)
	return body, err
}
