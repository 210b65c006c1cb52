#!/bin/sh
# Builds the contender java-decoders, which shares the sources of the contender java, and puts the machine code of its
# libraries for this processor into native.
set -eu
cd "$(dirname "$0")/.."
./with_methods.sh decoders java-decoders
mkdir build/decoders/native
java -XX:-UsePerfData -cp "build/decoders/lib/*" decoders/unpack/Unpack.java build/decoders/native
