#!/bin/sh
# A real S3 server over a folder, for tests: `s3.sh FOLDER`. Objects are the files in FOLDER/bucket: one that was put
# there by hand has the ETag "by-hand", one that was uploaded has that of its MD5. Requests must be signed. Prints where
# it is, then `ready`, and ends when its standard input closes or it is killed.
#
#   endpoint=, tls_endpoint=                  buckets are in the path
#   virtual_endpoint=, virtual_tls_endpoint=  buckets are in the name of the host; no name resolves, but by named.sh
#                                             virtual_host=: who puts the bucket in the path finds no host
#   cacert=, region=, bucket=, access_key=, secret_key=
#
# The server is versitygw (Apache-2.0), a program of its own, which the first call builds into target/tools; `s3.sh build`
# does no more than that. Status 3, with SKIPPED on standard error, if it cannot be had.
set -eu
MODULE=github.com/versity/versitygw
VERSION=v1.8.0
# Of buckets in the name of the host; in certificates.sh too.
DOMAIN=store.test

here=$(cd "$(dirname "$0")" && pwd)
: "${1:?usage: s3.sh FOLDER | build}"
[ "$1" = build ] || folder=$(cd "$1" && pwd)
# A target folder that is named relative to a folder is meant relative to the checkout.
tools=$(cd "$here/../.." && mkdir -p "${CARGO_TARGET_DIR:-target}/tools" && cd "${CARGO_TARGET_DIR:-target}/tools" && pwd)
tools=$tools/versitygw-$VERSION
. "$here/lifetime.sh"
program=$tools/versitygw

# Two tests may come here at once: one builds, the other waits.
build() {
    mkdir -p "$tools"
    exec 8>"$tools/lock"
    ! command -v flock >/dev/null 2>&1 || flock 8
    [ ! -x "$program" ] || return 0
    command -v go >/dev/null 2>&1 || skip "tests with S3: no go on the PATH"
    # Without optimisation it is built in a fifth of the time.
    GOBIN=$work/bin CGO_ENABLED=0 go install -gcflags='all=-N -l' "$MODULE/cmd/versitygw@$VERSION" \
        >"$work/build.log" 2>&1 ||
        skip "tests with S3: $MODULE was not built: $(tail -n 1 "$work/build.log")"
    mv "$work/bin/versitygw" "$program.new"
    mv "$program.new" "$program"
}
if [ ! -x "$program" ]; then
    build
    exec 8>&-
fi
[ "$1" != build ] || exit 0
for needed in openssl curl; do
    command -v $needed >/dev/null 2>&1 || skip "tests with S3: no $needed on the PATH"
done
"$here/certificates.sh" "$work" || fail "no certificates could be made"

random() { od -An -v -tx1 -N"$1" /dev/urandom | tr -d ' \n'; }
access_key=READLAB$(random 6 | tr a-f A-F)
# Like a real one, it has bytes that a URL or a shell would change.
secret_key="$(random 16)/+$(random 4)"
region=test-region-1
mkdir -p "$folder/bucket" "$work/metadata"

# NAME PORT [OPTION…]: one server over the folder. Attributes of objects are beside it, as not every file system has
# them.
serve() {
    name=$1
    port=$2
    shift 2
    ROOT_ACCESS_KEY=$access_key ROOT_SECRET_KEY=$secret_key mortal \
        "$program" --port "127.0.0.1:$port" --virtual-domain "$DOMAIN:$port" --region "$region" --keep-alive --quiet \
        "$@" posix --sidecar "$work/metadata" --default-etag '"by-hand"' "$folder" >"$work/$name.log" 2>&1 &
    servers="$servers $!"
    case $name in tls) scheme=https ;; *) scheme=http ;; esac
    answers "$scheme://127.0.0.1:$port/" $!
}

# URL PID: waits until the server answers. What it answers, and how the connection ends, is no matter.
answers() {
    tries=0
    until curl --silent --insecure --max-time 2 --include "$1" | grep -q '^HTTP/'; do
        tries=$((tries + 1))
        [ $tries -le 200 ] && kill -0 "$2" 2>/dev/null || return 1
        sleep 0.05
    done
}

# NAME [OPTION…]: on a free port.
start() {
    started=$1
    shift
    for attempt in 1 2 3 0; do
        port=$(random_port)
        ! serve "$started" "$port" "$@" || return 0
        [ $attempt != 0 ] || fail "versitygw: $(tail -n 1 "$work/$started.log")"
    done
}
start plain
endpoint=http://127.0.0.1:$port
virtual_endpoint=http://$DOMAIN:$port
start tls --cert "$work/server.pem" --key "$work/server.key"
cat <<SAID
endpoint=$endpoint
tls_endpoint=https://localhost:$port
virtual_endpoint=$virtual_endpoint
virtual_tls_endpoint=https://$DOMAIN:$port
virtual_host=bucket.$DOMAIN
cacert=$work/ca.pem
region=$region
bucket=bucket
access_key=$access_key
secret_key=$secret_key
SAID
until_closed
