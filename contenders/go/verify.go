package main

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
)

// The rules for the head of an answer (PROTOCOL.md, "Servers"). Statuses of failure are left to
// the client, which may repeat the request.

var (
	rangeWords        = regexp.MustCompile(`^bytes=(\d+)-(\d+)$`)
	contentRangeWords = regexp.MustCompile(`^bytes (\d+)-(\d+)/(\d+)$`)
)

// verify checks an answer's head and returns the size of the whole content, if it is stated.
func verify(request *http.Request, response *http.Response, etag string) (int64, error) {
	status := response.StatusCode
	asked := rangeWords.FindStringSubmatch(request.Header.Get("Range"))
	switch {
	case status == http.StatusRequestedRangeNotSatisfiable && asked != nil && asked[1] == "0":
		// Only nothing has no first byte.
		return 0, nil
	case status >= http.StatusBadRequest:
		return sizeUnknown, nil
	case status >= http.StatusMultipleChoices:
		return sizeUnknown, fmt.Errorf("%s, and redirects are not followed", statusName(status))
	}
	if encoding := response.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return sizeUnknown, fmt.Errorf("the answer has the content encoding %q", encoding)
	}
	if now := response.Header.Get("ETag"); etag != "" && now != "" && now != etag {
		return sizeUnknown, errors.New("the answer has another ETag: the content has changed")
	}
	if asked != nil {
		return verifyRange(asked, response)
	}
	if status != http.StatusOK {
		return sizeUnknown, fmt.Errorf("the answer has the status %s", statusName(status))
	}
	return response.ContentLength, nil
}

// verifyRange checks that an answer has exactly the range that was asked for, or all of it that
// there is.
func verifyRange(asked []string, response *http.Response) (int64, error) {
	if response.StatusCode == http.StatusOK && response.ContentLength == 0 && asked[1] == "0" {
		return 0, nil
	}
	if response.StatusCode != http.StatusPartialContent {
		return sizeUnknown, fmt.Errorf("the answer to a range has the status %s",
			statusName(response.StatusCode))
	}
	given := contentRangeWords.FindStringSubmatch(response.Header.Get("Content-Range"))
	if given == nil {
		return sizeUnknown, errors.New("the answer to a range does not state its range")
	}
	first, last, size := number(given[1]), number(given[2]), number(given[3])
	end := number(asked[2])
	if end > size-1 {
		end = size - 1
	}
	if first != number(asked[1]) || last != end {
		return sizeUnknown, fmt.Errorf("the range %s-%s was answered with %s-%s",
			asked[1], asked[2], given[1], given[2])
	}
	if length := response.ContentLength; length >= 0 && length != last-first+1 {
		return sizeUnknown, fmt.Errorf("the range %s-%s was answered with %d bytes",
			asked[1], asked[2], length)
	}
	return size, nil
}

// number is the value of digits; one that is too large is the largest, so it equals no other.
func number(digits string) int64 {
	value, _ := strconv.ParseInt(digits, 10, 64)
	return value
}

// statusName has the usual words for a status, not the server's.
func statusName(status int) string {
	return strconv.Itoa(status) + " " + http.StatusText(status)
}
