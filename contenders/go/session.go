package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"regexp"
	"runtime/debug"
	"strconv"
	"syscall"
	"time"
)

// A sample is one timed reading.
type sample struct {
	WallNs      int64 `json:"wall_ns"`
	CPUUserNs   int64 `json:"cpu_user_ns"`
	CPUSystemNs int64 `json:"cpu_system_ns"`
	answer
}

var turnWords = regexp.MustCompile(`^go (\d{1,10}) (\d{1,10})$`)

// serve takes turns until the end of the input: it reads with a clock around each timed reading, and prints only
// after the last one of a turn. The clock is that of time.Since; CPU times are those of getrusage.
func serve(r request, input io.Reader) error {
	sayReady(r.params)
	lines := bufio.NewScanner(input)
	for lines.Scan() {
		lead, count, err := parseTurn(lines.Text())
		if err != nil {
			return err
		}
		samples, err := turn(r, lead, count)
		if err != nil {
			return r.named(err)
		}
		// The bytes that were read are garbage now; their memory is returned to the kernel before the turn ends.
		debug.FreeOSMemory()
		saySamples(samples)
	}
	return lines.Err()
}

func parseTurn(line string) (lead, count uint64, err error) {
	if words := turnWords.FindStringSubmatch(line); words != nil {
		lead, err = strconv.ParseUint(words[1], 10, 32)
		if err == nil {
			count, err = strconv.ParseUint(words[2], 10, 32)
		}
	}
	if err != nil || count == 0 {
		return 0, 0, fmt.Errorf("expected `go LEAD COUNT` with COUNT above 0, got %q", line)
	}
	return lead, count, nil
}

func turn(r request, lead, count uint64) ([]sample, error) {
	for i := uint64(0); i < lead; i++ {
		r.start = time.Now()
		if _, err := r.method.read(r); err != nil {
			return nil, err
		}
	}
	var samples []sample
	for i := uint64(0); i < count; i++ {
		taken, err := timed(r)
		if err != nil {
			return nil, err
		}
		samples = append(samples, taken)
	}
	return samples, nil
}

func timed(r request) (sample, error) {
	var before, after syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &before); err != nil {
		return sample{}, err
	}
	r.start = time.Now()
	found, err := r.method.read(r)
	wall := time.Since(r.start)
	if err != nil {
		return sample{}, err
	}
	err = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
	user, system := after.Utime.Nano()-before.Utime.Nano(), after.Stime.Nano()-before.Stime.Nano()
	return sample{wall.Nanoseconds(), user, system, found}, err
}

// cause is the error without the path or the URL, which the message already has; that of a URL may
// be secret.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var to *url.Error
	if errors.As(err, &to) {
		return to.Err
	}
	return err
}
