#!/bin/sh
# Builds the C contender with the cc on the PATH: build/readlab-c. The flags become part of the program, for its receipt.
set -eu
cd "$(dirname "$0")"
flags="-std=gnu11 -O3 -pthread"
mkdir -p build
# shellcheck disable=SC2086 # one word a flag
cc $flags -Wall -Wextra -DREADLAB_FLAGS="\"$flags\"" -o build/readlab-c ./*.c
