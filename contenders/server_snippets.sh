#!/bin/sh
# Tests the programs that advice shows for a contender that reads from servers: `server_snippets.sh COMMAND…`, in its
# folder. COMMAND runs each of ./snippets, which finds what it needs in $BUILD, and prints the newlines of the object or
# URL that its argument names. The servers are those of tests/servers; without them it says SKIPPED. Ends with
# "N passed, N failed"; exit 1 if any failed.
set -u
: "${BUILD:?is set by contenders/test.sh}"
[ $# -gt 0 ] || { echo "usage: $0 COMMAND…" >&2; exit 2; }
servers=$(cd "$(dirname "$0")/../tests/servers" && pwd) || exit 1
folder=$(mktemp -d) || exit 1
end() {
    trap - EXIT
    # Servers end with their standard input.
    exec 5>&- 6>&-
    wait
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' HUP INT TERM

mkdir -p "$folder/files/bucket"
: >"$folder/files/bucket/empty"
printf x >"$folder/files/bucket/one-byte"
seq 1 20000 >"$folder/files/bucket/text"
# More than two parts of the usual size.
seq 1 3000000 >"$folder/files/bucket/long-text"

told() { sed -n "s/^$2=//p" "$folder/$1.said"; }
# NAME PID: waits until the server is ready; fails if it cannot be had.
served() {
    until grep -qx ready "$folder/$1.said"; do kill -0 "$2" 2>/dev/null || return 1; sleep 0.05; done
}
mkfifo "$folder/nginx.stdin" "$folder/s3.stdin"
: >"$folder/nginx.said"
: >"$folder/s3.said"
"$servers/nginx.sh" "$folder/files" <"$folder/nginx.stdin" >"$folder/nginx.said" &
nginx=$!
exec 5>"$folder/nginx.stdin"
"$servers/s3.sh" "$folder/files" <"$folder/s3.stdin" >"$folder/s3.said" 5>&- &
s3=$!
exec 6>"$folder/s3.stdin"

passed=0
failed=0
# SNIPPET WHERE COMMAND…
check() {
    snippet=$1
    where=$2
    shift 2
    for file in empty one-byte text long-text; do
        said=$("$@" "$where/$file" 2>"$folder/stderr" 5>&- 6>&-)
        if [ "$said" = "$(wc -l <"$folder/files/bucket/$file")" ]; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1))
            printf 'FAILED: %s of %s: %s\n' "$snippet" "$file" "$said" >&2
            cat "$folder/stderr" >&2
        fi
    done
}

for snippet in snippets/*.*; do
    # Beside the packages that it imports.
    copy=$BUILD/snippet.$$.${snippet##*.}
    cp "$snippet" "$copy"
    if grep -q 's3:' "$snippet"; then
        ! served s3 $s3 || check "$snippet" s3://bucket env AWS_ENDPOINT_URL_S3="$(told s3 endpoint)" \
            AWS_REGION="$(told s3 region)" AWS_DEFAULT_REGION="$(told s3 region)" \
            AWS_ACCESS_KEY_ID="$(told s3 access_key)" AWS_SECRET_ACCESS_KEY="$(told s3 secret_key)" "$@" "$copy"
    else
        ! served nginx $nginx || check "$snippet" "$(told nginx http)/bucket" "$@" "$copy"
    fi
    rm "$copy"
done
echo "$passed passed, $failed failed"
[ $failed = 0 ]
