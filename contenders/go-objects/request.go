package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A request is the method, the object and every parameter in force; what the environment says about
// the server; and the client of a session, if it is kept.
type request struct {
	method method
	scan   string
	work   string
	params map[string]int
	object object
	server server
	access access
	store  store
	start  time.Time
}

// parseRequest reads METHOD SCAN WORK TARGET [name=value ...] and checks it against the method. A
// kept client is made here, before any window.
func parseRequest(words []string) (request, error) {
	name, scan, work := words[0], words[1], words[2]
	found, err := methodNamed(name)
	if err != nil {
		return request{}, err
	}
	known, does := scans[work]
	if !does {
		return request{}, fmt.Errorf("%s does not do the work %q", name, work)
	}
	if !contains(known, scan) {
		return request{}, fmt.Errorf("%s has no scan %q for %s", name, scan, work)
	}
	r := request{method: found, scan: scan, work: work, params: map[string]int{}}
	for _, param := range found.params {
		r.params[param.Name] = param.Default
	}
	for _, word := range words[4:] {
		if err := r.set(word); err != nil {
			return request{}, err
		}
	}
	return r, r.find(words[3])
}

// find sets what is read, and from where.
func (r *request) find(target string) (err error) {
	if r.object, err = parseObject(target); err != nil {
		return err
	}
	if err = r.prepare(); err != nil {
		return fmt.Errorf("%s: %w", r.object, err)
	}
	return nil
}

func (r *request) prepare() (err error) {
	if r.server, err = serverOfEnvironment(); err != nil {
		return err
	}
	if r.access, err = accessOfEnvironment(); err == nil && r.params["kept"] == 1 {
		r.store, err = r.method.open(*r)
	}
	return err
}

// set sets one name=value.
func (r *request) set(word string) error {
	name, digits, _ := strings.Cut(word, "=")
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
