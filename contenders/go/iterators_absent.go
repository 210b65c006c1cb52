//go:build !go1.24

package main

// Before Go 1.24 these methods are unavailable.
var readByBytesLines, readByStringsLines func(request) (answer, error)
