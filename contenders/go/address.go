package main

import (
	"errors"
	"net/url"
	"os"
	"strings"
)

// An address is the URL that is read, and what messages show of it: no query, which may be a
// signature, and no name or password of a user.
type address struct {
	url   *url.URL
	shown string
}

// parseAddress reads TARGET; the word - means that the URL is in the environment, since it is secret.
// An error of parsing would repeat the URL, so messages have other words.
func parseAddress(target string) (address, error) {
	if target == "-" {
		if target = os.Getenv("READLAB_TARGET"); target == "" {
			return address{}, errors.New("the target is -, and READLAB_TARGET is not set")
		}
	}
	parsed, err := url.Parse(target)
	if err != nil {
		return address{}, errors.New("the target is no URL that can be parsed")
	}
	if scheme := strings.ToLower(parsed.Scheme); scheme != "http" && scheme != "https" || parsed.Host == "" {
		return address{}, errors.New("the target is no http:// or https:// URL")
	}
	parsed.Fragment, parsed.RawFragment = "", ""
	shown := url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path, RawPath: parsed.RawPath}
	return address{parsed, shown.String()}, nil
}
