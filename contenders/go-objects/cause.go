package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
	"github.com/minio/minio-go/v7"
)

// The cause of a failure in few words. Errors of the libraries are long and may have a URL with its
// query, or what a server says about a signature; of an answer, only its status and its code remain.

// query is what follows the path of a URL within a text.
var query = regexp.MustCompile(`\?[^\s"']*`)

func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	words := answered(err)
	if words == "" {
		words = err.Error()
		var to *url.Error
		if errors.As(err, &to) {
			words = to.Err.Error()
		}
		words = strings.Join(strings.Fields(query.ReplaceAllString(words, "?…")), " ")
	}
	var gaveUp *retry.MaxAttemptsError
	if errors.As(err, &gaveUp) {
		words += fmt.Sprintf(", after %d attempts", gaveUp.Attempt)
	}
	return errors.New(words)
}

// answered is the status and the code with which a store refused, or nothing.
func answered(err error) string {
	var status *awshttp.ResponseError
	var code smithy.APIError
	if errors.As(err, &status) && status.Response != nil && errors.As(err, &code) {
		return statusAndCode(status.HTTPStatusCode(), code.ErrorCode())
	}
	var refused minio.ErrorResponse
	if errors.As(err, &refused) && refused.StatusCode != 0 {
		return statusAndCode(refused.StatusCode, refused.Code)
	}
	return ""
}

// plainCode is a code of the S3 protocol; a library may put other words in its place.
var plainCode = regexp.MustCompile(`^[A-Za-z]{1,64}$`)

func statusAndCode(status int, code string) string {
	words := statusName(status)
	if plainCode.MatchString(code) && code != "UnknownError" && !strings.HasSuffix(code, "Unknown") {
		words += " (" + code + ")"
	}
	return words
}
