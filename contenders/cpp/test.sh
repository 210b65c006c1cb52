#!/bin/sh
# Builds the C++ contender and tests it against the protocol, also with settings that are not the defaults; needs a C++
# compiler.
set -eu
if ! command -v c++ >/dev/null 2>&1; then
    echo "SKIPPED: the C++ contender's tests: no c++ on the PATH" >&2
    exit 0
fi
cd "$(dirname "$0")"
./build.sh
../conformance.sh build/readlab-cpp

# FILE METHOD [name=value ...]: counts 20000 newlines in each reading of two turns.
check() {
    file=$1 method=$2
    shift 2
    # shellcheck disable=SC2086 # the method and its scan are two words
    said=$(printf 'go 1 1\ngo 0 1\n' | build/readlab-cpp read $method newlines "$file" "$@")
    if [ "$(echo "$said" | grep -c '"newlines":20000[,}]')" = 2 ]; then
        passed=$((passed + 1))
    else
        printf 'FAILED: %s %s\n%s\n' "$method" "$*" "$said" >&2
        exit 1
    fi
}
passed=0
lines=$(mktemp)
trap 'rm -f "$lines"' EXIT
awk 'BEGIN { for (i = 0; i < 20000; i++) print substr("a line of some length", 1, i % 22); printf "end" }' >"$lines"
check "$lines" "stdin.getline -" synced=0
for bytes in 1 2 4096 1000000; do
    for method in "getline -" "istreambuf_iterator -" "stringstream count"; do
        check "$lines" "$method" buffer_bytes=$bytes
    done
    for method in "ifstream.read count" "ifstream.rdbuf count"; do
        check "$lines" "$method" buffer_bytes=$bytes array_bytes=7
        check "$lines" "$method" buffer_bytes=7 array_bytes=$bytes
    done
done
echo "$passed settings passed, 0 failed"
../snippets.sh cpp
