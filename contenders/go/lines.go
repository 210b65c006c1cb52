package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
)

// The methods of bufio that return lines. An unterminated last line counts.

// A Scanner does not report whether the last line was terminated, so it can only prove lines.
func readByScanner(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, r.params["line_bytes_max"])
	var lines, chars uint64
	if r.scan == "Text" {
		for scanner.Scan() {
			chars += uint64(len(scanner.Text()))
			lines++
		}
	} else {
		for scanner.Scan() {
			chars += uint64(len(scanner.Bytes()))
			lines++
		}
	}
	unused = chars
	err = scanner.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		most := r.params["line_bytes_max"]
		err = fmt.Errorf("%w: a line has %d bytes or more, and --param line_bytes_max=%d takes longer ones",
			err, most, most*longerTimes)
	}
	return answer{Lines: &lines}, err
}

// How many times as long a line may be under the limit that is suggested.
const longerTimes = 64

// Unused results are stored here, so that the compiler cannot remove their computation.
var unused uint64

func readBySlice(r request) (answer, error) {
	return readLines(r, (*bufio.Reader).ReadSlice)
}

func readByLineOfBytes(r request) (answer, error) {
	return readLines(r, (*bufio.Reader).ReadBytes)
}

func readByLineOfString(r request) (answer, error) {
	return readLines(r, (*bufio.Reader).ReadString)
}

// A slice that fills the buffer is a part of a line.
func readLines[line []byte | string](r request, next func(*bufio.Reader, byte) (line, error)) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, r.params["buffer_bytes"])
	var bytes, newlines, lines uint64
	within := false
	for {
		part, err := next(reader, '\n')
		bytes += uint64(len(part))
		if len(part) > 0 && !within {
			lines++
		}
		if err == nil {
			newlines++
			within = false
			continue
		}
		if errors.Is(err, io.EOF) {
			return answer{Bytes: &bytes, Newlines: &newlines, Lines: &lines}, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return answer{}, err
		}
		within = true
	}
}

// ReadLine returns a line without its end, or a part of one that is longer than the buffer; like a Scanner it can only
// prove lines.
func readByLine(r request) (answer, error) {
	file, err := os.Open(r.path)
	if err != nil {
		return answer{}, err
	}
	defer file.Close()
	reader := bufio.NewReaderSize(file, r.params["buffer_bytes"])
	var lines uint64
	within := false
	for {
		_, isPrefix, err := reader.ReadLine()
		if errors.Is(err, io.EOF) {
			if within {
				lines++
			}
			return answer{Lines: &lines}, nil
		}
		if err != nil {
			return answer{}, err
		}
		if !isPrefix {
			lines++
		}
		within = isPrefix
	}
}
