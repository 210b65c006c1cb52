package main

import (
	"errors"
	"fmt"
	"net/url"
	"os"
)

// An access is how objects are requested: where they are, and how requests are signed. It comes from
// the environment alone: no file of a configuration and no service of a cloud is asked. Messages
// name variables, never their values.
type access struct {
	endpoint  *url.URL
	region    string
	pathStyle bool
	id        string
	secret    string
	token     string
}

func accessOfEnvironment() (access, error) {
	found := access{
		region: os.Getenv("AWS_REGION"),
		id:     os.Getenv("AWS_ACCESS_KEY_ID"),
		secret: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		token:  os.Getenv("AWS_SESSION_TOKEN"),
	}
	endpoint, err := url.Parse(os.Getenv("AWS_ENDPOINT_URL_S3"))
	if err != nil || endpoint.Host == "" || endpoint.Scheme != "http" && endpoint.Scheme != "https" {
		return access{}, errors.New("AWS_ENDPOINT_URL_S3 is not set to an http:// or https:// URL")
	}
	found.endpoint = endpoint
	if found.region == "" {
		return access{}, errors.New("AWS_REGION is not set")
	}
	switch style := os.Getenv("READLAB_S3_STYLE"); style {
	case "path", "virtual":
		found.pathStyle = style == "path"
	default:
		return access{}, fmt.Errorf("READLAB_S3_STYLE must be path or virtual, got %q", style)
	}
	return found, nil
}

// isSigned is whether requests are signed.
func (a access) isSigned() bool {
	return a.id != "" && a.secret != ""
}
