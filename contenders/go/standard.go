//go:build !decoders

package main

// What the program is without the tag decoders.

const contender = "go"

var methods = ofStandardLibrary
