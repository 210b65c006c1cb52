package main

import "runtime"

// A param is a setting of a method; the name carries its unit.
type param struct {
	Name    string `json:"name"`
	Default int    `json:"default"`
	Min     int    `json:"min"`
	Max     int    `json:"max"`
}

// A method is one way of reading. Its read opens, reads the bytes and closes; all of that is the window, and no byte
// of the file is kept. For each work its scans are the ways of visiting the bytes, best first.
type method struct {
	name   string
	about  string
	scans  map[string][]string
	params []param
	// nil, if the contender was built by a Go without what it needs.
	read func(request) (answer, error)
	// Whether it reads a part of a file, too.
	parts bool
	// "url", if it reads from a server; "list" or "folder", if it reads several files; "places", if it
	// reads blocks of one; otherwise single ones.
	reads string
	// The format of the compressed file that it decodes, if it does.
	decodes string
}

const bytesMax = 1 << 30

var (
	ofBytes = map[string][]string{"newlines": {"Count", "loop"}, "sum": {"loop"}, "discard": {"-"}}
	ofLines = map[string][]string{"newlines": {"-"}, "lines": {"-"}}
	ofScans = map[string][]string{"newlines": {"Bytes", "Text"}, "lines": {"Bytes", "Text"}}

	// The default buffer of bufio, and the smallest that it accepts.
	bufioBuffer = param{"buffer_bytes", 4096, 16, bytesMax}
	lineMax     = param{"line_bytes_max", 64 << 10, 1, bytesMax}
	ownBuffer   = param{"buffer_bytes", 64 << 10, 1, bytesMax}

	partSize    = param{"part_bytes", 8 << 20, 64 << 10, bytesMax}
	concurrency = param{"concurrency", 8, 1, 256}
	keptClient  = param{"kept", 0, 0, 1}
	httpVersion = param{"http", 1, 1, 2}

	workers = param{"workers", runtime.NumCPU(), 1, 1024}
	threads = param{"threads", 1, 1, 1024}
)

// unavailable is why a method cannot read, or empty.
func (m method) unavailable() string {
	if m.read != nil {
		return ""
	}
	return "it needs Go 1.24 or later; this contender was built by " + runtime.Version()
}

// The methods of the standard library, in the order of the list.
var ofStandardLibrary = []method{
	{"bufio.Scanner", "Scan of a bufio.Scanner; Text makes a string of every line, Bytes does not", ofScans,
		[]param{lineMax}, readByScanner, false, "", ""},
	{"bufio.Reader.ReadSlice", "ReadSlice of a bufio.Reader: lines where they lie in its buffer", ofLines,
		[]param{bufioBuffer}, readBySlice, false, "", ""},
	{"bufio.Reader.ReadBytes", "ReadBytes of a bufio.Reader: a slice is made for every line", ofLines,
		[]param{bufioBuffer}, readByLineOfBytes, false, "", ""},
	{"bufio.Reader.ReadLine", "ReadLine of a bufio.Reader: lines or parts of long ones, where they are in its buffer",
		ofLines, []param{bufioBuffer}, readByLine, false, "", ""},
	{"bufio.Reader.ReadString", "ReadString of a bufio.Reader: a string is made for every line", ofLines,
		[]param{bufioBuffer}, readByLineOfString, false, "", ""},
	{"bytes.Lines", "range over bytes.Lines of what os.ReadFile returns: lines where they are in one slice", ofLines,
		nil, readByBytesLines, false, "", ""},
	{"strings.Lines", "range over strings.Lines of what os.ReadFile returns, copied into one string", ofLines,
		nil, readByStringsLines, false, "", ""},
	{"bufio.Reader.Read", "Read of a bufio.Reader into a slice as large as its buffer", ofBytes,
		[]param{bufioBuffer}, readByBufferedRead, true, "", ""},
	{"os.File.Read", "Read of an os.File into one slice", ofBytes, []param{ownBuffer}, readByRead, true, "", ""},
	{"io.Copy", "io.Copy of an os.File into a Writer that visits the bytes", ofBytes, nil, readByCopy, true, "", ""},
	{"io.ReadAll", "io.ReadAll of an os.File: the whole file in one slice, which grows", ofBytes, nil, readAll, true, "", ""},
	{"os.ReadFile", "os.ReadFile: the whole file in one slice", ofBytes, nil, readWhole, false, "", ""},
	{"syscall.Mmap", "the whole file mapped by syscall.Mmap", ofBytes, nil, readMapped, true, "", ""},
	{"gzip.Reader", "Read of a gzip.Reader over an os.File into one slice", ofBytes, []param{ownBuffer}, readByGzip,
		false, "", "gzip"},
	{"bzip2.NewReader", "Read of what bzip2.NewReader returns over an os.File into one slice", ofBytes,
		[]param{ownBuffer}, readByBzip2, false, "", "bzip2"},
	{"http.Client", "GET of an http.Client, its Body read into one slice", ofBytes,
		[]param{ownBuffer, keptClient, httpVersion}, readByGet, false, "url", ""},
	{"http.Client-ranged", "GETs of ranges at once by goroutines, one http.Client", ofBytes,
		[]param{partSize, concurrency, keptClient, httpVersion}, readByRanges, false, "url", ""},
	{"files", "os.ReadFile of each file of a list, one after the other", ofBytes, nil, readList, false, "list", ""},
	{"walkdir", "os.ReadFile of each regular file that filepath.WalkDir finds, one after the other", ofBytes, nil,
		readWalk, false, "folder", ""},
	{"walkdir-goroutines", "filepath.WalkDir sends paths through a channel to goroutines, each with os.ReadFile", ofBytes,
		[]param{workers}, readWalkByWorkers, false, "folder", ""},
	{"places-ReadAt", "ReadAt of an os.File at each place, by goroutines that take places in turn", ofBytes,
		[]param{threads}, readPlaces, false, "places", ""},
}
