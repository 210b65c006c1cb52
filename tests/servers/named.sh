#!/bin/sh
# Runs a command for which a further name is this machine: `named.sh NAME COMMAND…`. It has the name in its own
# /etc/hosts, in a namespace of mounts; the file of the machine stays as it is. Status 3, with SKIPPED on standard
# error, if such a namespace cannot be made. Needs Linux and unshare; without root, also namespaces of users.
set -eu
if [ "$1" = inside ]; then
    mount --bind "$2" /etc/hosts || exit 3
    # The mount keeps the file.
    rm "$2"
    shift 2
    exec "$@"
fi
: "${2:?usage: named.sh NAME COMMAND…}"
name=$1
shift
namespace=--mount
[ "$(id -u)" = 0 ] || namespace='--user --map-root-user --mount'
# shellcheck disable=SC2086 # one word an option
unshare $namespace mount --bind /etc/hosts /etc/hosts 2>/dev/null || {
    echo "SKIPPED: tests with a further name of this machine: no namespace of mounts" >&2
    exit 3
}
hosts=$(mktemp)
{ cat /etc/hosts && echo "127.0.0.1 $name"; } >"$hosts"
chmod 644 "$hosts"
# shellcheck disable=SC2086 # one word an option
exec unshare $namespace "$0" inside "$hosts" "$@"
