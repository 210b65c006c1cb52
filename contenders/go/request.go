package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"
)

// A request is the method, the target and every parameter in force. A path is any bytes. What is
// read over the network has no path but an address and what the environment says about its server,
// and the client of a session, if it is kept. Of a list, the paths in it are here too, of a zstd its
// dictionary.
type request struct {
	method     method
	scan       string
	work       string
	path       string
	list       []string
	places     places
	part       part
	params     map[string]int
	dictionary []byte
	address    address
	server     server
	client     *client
	start      time.Time
}

// parseRequest reads METHOD SCAN WORK TARGET [name=value ...] and checks it against the method.
func parseRequest(words []string) (request, error) {
	name, scan, work := words[0], words[1], words[2]
	found, err := methodNamed(name)
	if err != nil {
		return request{}, err
	}
	scans, known := found.scans[work]
	if !known {
		return request{}, fmt.Errorf("%s does not do the work %q", name, work)
	}
	if !contains(scans, scan) {
		return request{}, fmt.Errorf("%s has no scan %q for %s", name, scan, work)
	}
	r := request{method: found, scan: scan, work: work, part: wholeFile, params: map[string]int{}}
	for _, param := range found.params {
		r.params[param.Name] = param.Default
	}
	for _, word := range words[4:] {
		if err := r.set(word); err != nil {
			return request{}, err
		}
	}
	given := " " + strings.Join(words[4:], " ")
	if strings.Contains(given, " start_bytes=") != strings.Contains(given, " length_bytes=") {
		return request{}, errors.New("a part needs both start_bytes and length_bytes")
	}
	if found.reads == "places" && !contains(words[4:], placesWord) {
		return request{}, fmt.Errorf("%s reads places, and the target is no list of them", name)
	}
	if found.reads == "url" {
		return r, r.connectTo(words[3])
	}
	r.path = words[3]
	switch found.reads {
	case "list":
		r.list, err = parseList(r.path)
	case "places":
		r.places, err = parsePlaces(r.path)
	}
	if found.decodes == "zstd" {
		r.dictionary, err = dictionaryOfEnvironment()
	}
	return r, r.named(err)
}

// connectTo sets what is read over the network. A kept client is made here, before any window.
func (r *request) connectTo(target string) (err error) {
	if r.address, err = parseAddress(target); err != nil {
		return err
	}
	if r.params["http"] == 2 && r.address.url.Scheme != "https" {
		return fmt.Errorf("%s: http=2 needs encryption, an https URL", r.target())
	}
	if r.server, err = serverOfEnvironment(); err != nil {
		return fmt.Errorf("%s: %w", r.target(), err)
	}
	if r.params["kept"] == 1 {
		r.client = newClient(*r)
	}
	return nil
}

// target is what messages call what is read.
func (r *request) target() string {
	if r.method.reads == "url" {
		return r.address.shown
	}
	return r.path
}

// named puts what failed before an error: the file, if the target only names it, and the target
// otherwise.
func (r request) named(err error) error {
	if err == nil {
		return nil
	}
	target := r.target()
	var at *fs.PathError
	if errors.As(err, &at) && contains([]string{"list", "folder", "places"}, r.method.reads) {
		target = at.Path
	}
	return fmt.Errorf("%s: %w", target, cause(err))
}

// set sets one name=value. That the target is a list is known from the method.
func (r *request) set(word string) error {
	if word == "list=1" && r.method.reads == "list" || word == placesWord && r.method.reads == "places" {
		return nil
	}
	name, digits, _ := strings.Cut(word, "=")
	bounds := map[string]*int64{"start_bytes": &r.part.start, "length_bytes": &r.part.length}
	if bound := bounds[name]; bound != nil && r.method.parts {
		value, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || value < 0 {
			return fmt.Errorf("%s must be an integer from 0 on, got %q", name, word)
		}
		*bound = value
		return nil
	}
	for _, param := range r.method.params {
		if param.Name != name {
			continue
		}
		value, err := strconv.Atoi(digits)
		if err != nil || value < param.Min || value > param.Max {
			return fmt.Errorf("%s must be an integer from %d to %d, got %q", name, param.Min, param.Max, word)
		}
		r.params[name] = value
		return nil
	}
	return fmt.Errorf("%s has no parameter %q", r.method.name, name)
}

func methodNamed(name string) (method, error) {
	for _, method := range methods {
		if method.name == name {
			return method, nil
		}
	}
	return method{}, fmt.Errorf("there is no method %q", name)
}

func contains(words []string, word string) bool {
	for _, each := range words {
		if each == word {
			return true
		}
	}
	return false
}
