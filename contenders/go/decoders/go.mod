module readlab/contenders/go

go 1.24

require (
	github.com/andybalholm/brotli v1.3.0
	github.com/klauspost/compress v1.19.2
	github.com/klauspost/pgzip v1.2.6
	github.com/pierrec/lz4/v4 v4.1.33
	github.com/ulikunitz/xz v0.5.17
)
