#!/bin/sh
# Writes the first inputs of a fuzzer into a folder, one file each: readlab's own examples of that kind, and the inputs
# beside this script that earlier fuzzing found.
#
#   fuzz/seeds.sh protocol|record|roster|suite|claims|words|auto|zip|gzip|compressed|http FOLDER
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$here/..
target=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)

# Each line of the input as a separate file, without its end.
lines() { awk -v folder="$folder" '{ file = sprintf("%s/seed-%03d", folder, NR); printf "%s", $0 > file; close(file) }'; }

# A server's answer, with the escapes of printf.
answer() { printf "$2" > "$folder/seed-$1"; }

case $target in
    protocol) grep -E '^(\{"say"|go )' "$root/PROTOCOL.md" | lines ;;
    # Few of the samples are as good as all, and leave time for other changes.
    record)
        made=$(mktemp -d)
        (cd "$root" && cargo run --quiet --package readlab-record --example scripted "$made")
        for record in "$made"/*.jsonl; do
            awk '!/"line":"sample"/ || samples++ % 13 == 0' "$record" > "$folder/seed-$(basename "$record")"
        done
        rm -r "$made" ;;
    roster) cp "$root"/contenders/*.toml "$folder" ;;
    suite) cp "$root"/suites/*.toml "$folder" ;;
    claims) cp "$root"/published/claims/*.toml "$folder" ;;
    words) sed -n 's/^trial *= *"\(.*\)"$/\1/p' "$root"/suites/*.toml | sort -u | lines
        printf %s 1.5MiB > "$folder/seed-bytes"
        printf %s 250ms > "$folder/seed-time"
        printf %s 3.4GB/s > "$folder/seed-rate"
        printf %s http://host:8/path > "$folder/seed-url" ;;
    # Sizes around those at which the way changes; a range; threads.
    auto)
        printf '\000\000\020\000\000\000\000\000\377\377\377\000\001line\n' > "$folder/seed-once"
        printf '\001\000\200\000\007\000\000\000\377\377\177\000\002line\n' > "$folder/seed-flight" ;;
    zip) (cd "$root" && python3 -m zipfile -c "$folder/seed-text" README.md) ;;
    gzip) gzip -c "$root/README.md" > "$folder/seed-text"; gzip -nc /dev/null > "$folder/seed-empty" ;;
    # The first byte is the number of the format.
    compressed)
        at=0
        for program in zstd lz4 xz bzip2; do
            { printf "\\$at"; $program -c "$root/README.md"; } > "$folder/seed-$program" || rm "$folder/seed-$program"
            at=$((at + 1))
        done ;;
    http)
        answer length 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nETag: "x"\r\n\r\nhello'
        answer chunked 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'
        answer end 'HTTP/1.0 200 OK\r\nServer: s\r\n\r\nto the end'
        answer error 'HTTP/1.1 404 Not Found\r\n\r\n' ;;
    *) echo "fuzz/seeds.sh: no fuzzer is called $target" >&2; exit 2 ;;
esac

kept=$here/corpora/$target.tar.xz
[ ! -e "$kept" ] || tar -xJf "$kept" -C "$folder"
