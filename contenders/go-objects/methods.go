package main

// A param is a setting of a method; the name carries its unit.
type param struct {
	Name    string `json:"name"`
	Default int    `json:"default"`
	Min     int    `json:"min"`
	Max     int    `json:"max"`
}

// A method is one way of reading: the library by which it requests, and what it requests. For each
// work its scans are the ways of visiting the bytes, best first.
type method struct {
	name   string
	about  string
	params []param
	open   func(request) (store, error)
	read   func(request, store, *course) (*tally, error)
}

const bytesMax = 1 << 30

var (
	scans = map[string][]string{"newlines": {"Count", "loop"}, "sum": {"loop"}, "discard": {"-"}}

	ownBuffer   = param{"buffer_bytes", 64 << 10, 1, bytesMax}
	partSize    = param{"part_bytes", 8 << 20, 64 << 10, bytesMax}
	concurrency = param{"concurrency", 8, 1, 256}
	// The libraries' documentation says to make one client and to keep it.
	keptClient = param{"kept", 1, 0, 1}

	whole  = []param{ownBuffer, keptClient}
	ranges = []param{partSize, concurrency, keptClient}
)

// All methods, in the order of the list.
var methods = []method{
	{"GetObject", "GetObject of aws-sdk-go-v2, its Body read into one slice; checksums verified",
		whole, openAWS, readWhole},
	{"GetObject-ranged", "GetObject of aws-sdk-go-v2 for ranges at once, by goroutines",
		ranges, openAWS, readRanges},
	{"transfermanager.DownloadObject", "DownloadObject of aws-sdk-go-v2's transfermanager, in ranges, " +
		"bytes visited as its WriterAt gets them", ranges, openAWS, readByTransferManager},
	{"minio.GetObject", "GetObject of minio-go, its Object read into one slice; no checksums",
		whole, openMinio, readWhole},
	{"minio-ranged", "GetObject of minio-go's Core for ranges at once, by goroutines; no checksums",
		ranges, openMinio, readRanges},
}
