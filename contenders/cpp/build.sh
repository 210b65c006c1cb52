#!/bin/sh
# Builds the C++ contender with the c++ on the PATH: build/readlab-cpp. The flags become part of the program, for its
# receipt. Boost.Iostreams is used if a program with it can be compiled and linked.
set -eu
cd "$(dirname "$0")"
flags="-std=c++17 -O3"
mkdir -p build

# Whether the header and the library are both there.
has_boost() {
    # shellcheck disable=SC2086 # one word a flag
    c++ $flags -x c++ -o build/boost-iostreams - -x none -lboost_iostreams >/dev/null 2>&1 <<'CPP'
#include <boost/iostreams/device/mapped_file.hpp>
int main() { return boost::iostreams::mapped_file_source().is_open(); }
CPP
}
boost=
! has_boost || boost="-DREADLAB_BOOST_IOSTREAMS -lboost_iostreams"
rm -f build/boost-iostreams
# shellcheck disable=SC2086 # one word a flag
c++ $flags -Wall -Wextra -DREADLAB_FLAGS="\"$flags\"" -o build/readlab-cpp ./*.cpp $boost
