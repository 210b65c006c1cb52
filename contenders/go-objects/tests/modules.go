//go:build snippets

// Package tests runs the built contender and its snippets. This file names the modules that snippets
// import, so that go.mod has them; those that the contender has, too, are of the same version.
package tests

import (
	_ "github.com/aws/aws-sdk-go-v2/aws"
	_ "github.com/aws/aws-sdk-go-v2/config"
	_ "github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	_ "github.com/aws/aws-sdk-go-v2/service/s3"
	_ "github.com/minio/minio-go/v7"
)
