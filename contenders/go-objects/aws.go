package main

import (
	"context"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// The AWS SDK for Go, version 2. Retries, timeouts and the validation of checksums are its defaults:
// it validates where the store sends a checksum, which it does for whole objects.
type awsStore struct {
	client *s3.Client
	wire   *wire
	object object
	etag   *string
}

func openAWS(r request) (store, error) {
	wire := newWire(r, awshttp.NewBuildableClient().GetTransport())
	options := s3.Options{
		BaseEndpoint: aws.String(r.access.endpoint.String()),
		Region:       r.access.region,
		UsePathStyle: r.access.pathStyle,
		Credentials:  aws.AnonymousCredentials{},
		HTTPClient: &http.Client{Transport: wire, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
		// The defaults of its configuration, which is not loaded here.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	if r.access.isSigned() {
		options.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: r.access.id, SecretAccessKey: r.access.secret,
				SessionToken: r.access.token}, nil
		})
	}
	opened := &awsStore{client: s3.New(options), wire: wire, object: r.object}
	if r.server.etag != "" {
		opened.etag = &r.server.etag
	}
	return opened, nil
}

func (s *awsStore) line() *wire {
	return s.wire
}

func (s *awsStore) get(ctx context.Context) (io.ReadCloser, error) {
	return s.request(ctx, nil)
}

func (s *awsStore) getRange(ctx context.Context, at span) (io.ReadCloser, error) {
	return s.request(ctx, aws.String(at.String()))
}

func (s *awsStore) request(ctx context.Context, byteRange *string) (io.ReadCloser, error) {
	found, err := s.client.GetObject(ctx, &s3.GetObjectInput{
		Bucket: &s.object.bucket, Key: &s.object.key, IfMatch: s.etag, Range: byteRange,
	})
	if err != nil {
		return nil, err
	}
	return found.Body, nil
}
