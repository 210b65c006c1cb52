#!/bin/sh
# Builds the contender kotlin, whose session is that of the contender java: Kotlin's compiler and library are of
# pom.xml.
set -eu
"$(dirname "$0")"/../with_methods.sh kotlin kotlin
