package main

import (
	"context"
	"io"
)

// The methods that read a URL. Without kept=1, making the client and closing it is in the window.

func readByGet(r request) (answer, error) {
	return readURL(r, func(client *client, course *course) (*tally, error) {
		body, err := client.get(course.ctx, r, "")
		if err != nil {
			return nil, err
		}
		defer body.Close()
		found := newTally(r)
		return found, found.drain(body, make([]byte, r.params["buffer_bytes"]))
	})
}

func readByRanges(r request) (answer, error) {
	return readURL(r, func(client *client, course *course) (*tally, error) {
		return readParts(r, course, func(ctx context.Context, at span) (io.ReadCloser, error) {
			return client.get(ctx, r, at.String())
		})
	})
}

// readURL is one reading with the session's client, or with one of its own.
func readURL(r request, read func(*client, *course) (*tally, error)) (answer, error) {
	client := r.client
	if client == nil {
		client = newClient(r)
		defer client.wire.close()
	}
	course := client.wire.begin(r.start)
	found, err := read(client, course)
	return course.finish(found, err)
}
