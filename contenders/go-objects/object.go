package main

import (
	"errors"
	"os"
	"strings"
)

// An object is what is read: a bucket and a key, which is any bytes.
type object struct {
	bucket string
	key    string
}

// parseObject reads s3://BUCKET/KEY; the word - means that it is in the environment.
func parseObject(target string) (object, error) {
	if target == "-" {
		if target = os.Getenv("READLAB_TARGET"); target == "" {
			return object{}, errors.New("the target is -, and READLAB_TARGET is not set")
		}
	}
	if !strings.HasPrefix(target, "s3://") {
		return object{}, errors.New("the target is no object, s3://BUCKET/KEY")
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(target, "s3://"), "/")
	if bucket == "" || key == "" {
		return object{}, errors.New("the target has no bucket or no key: s3://BUCKET/KEY")
	}
	return object{bucket, key}, nil
}

func (o object) String() string {
	return "s3://" + o.bucket + "/" + o.key
}
