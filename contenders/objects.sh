#!/bin/sh
# Tests how a contender in any language reads URLs and objects, from outside: `objects.sh COMMAND…`. Every method that
# it lists for them reads from nginx, from a real S3 server and from one that misbehaves, and each answer is compared
# with the true one; then what the servers saw is compared with what the contender said. tests/servers has the servers,
# tests/servers/objects the parts of this test. Needs a POSIX shell, Linux, python3, curl, nginx, openssl and go; what
# is missing is skipped aloud. Ends with "N passed, N failed"; exit 1 if any failed.
#
#   JOBS=N               how many readings that should be right run at once; one more than there are processors
#   METHODS='A B'        only these methods
#   PATIENCE_S=N         how long a client may wait for a server that is silent, before that is skipped; 35
#   MEMORY_MAX_KIB=N     also the most memory that a method may need for 256 MiB, beside part_bytes × concurrency;
#                        not of the methods in MEMORY_WHOLE='A B', whose interface returns everything at once
#   SNIPPETS='COMMAND'   also the programs in ./snippets, by this command
set -u
[ $# -gt 0 ] || { echo "usage: $0 COMMAND…" >&2; exit 2; }
LC_ALL=C.UTF-8
export LC_ALL
servers=$(cd "$(dirname "$0")/../tests/servers" && pwd) || exit 1
for needed in python3 curl; do
    command -v $needed >/dev/null 2>&1 || { echo "SKIPPED: URLs and objects: no $needed on the PATH" >&2; exit 0; }
done

SECRET_QUERY=token=SECRETQUERY0123456789
FAULTY_ACCESS=READLABACCESS0123456
FAULTY_SECRET=readlabsecret/0123+456789
FAULTY_TOKEN=readlabtoken0123456789
OTHER_ETAG='"another"'
WELL_ETAG='"0123456789abcdef0123456789abcdef"'
ODD_KEY='folder/a b+c %41 "d" ä€&=;@:,?x=y#z.txt'
NOWHERE=http://127.0.0.1:9
# Until a reading has failed; a right answer may take longer on a busy machine.
DEADLINE_S=60
RIGHT_WITHIN_S=200
PATIENCE_S=${PATIENCE_S:-35}

folder=$(mktemp -d) || exit 1
mkdir "$folder/runs" "$folder/files"
# Servers end with their standard input; readings that still wait for an answer are ended first.
end() {
    trap - EXIT
    for each in "$folder"/runs/*.pid; do
        [ ! -e "$each" ] || [ -e "${each%.pid}.status" ] || kill "$(cat "$each")" 2>/dev/null
    done
    exec 4>&- 5>&- 6>&-
    wait
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' HUP INT TERM

. "$servers/objects/contender.sh"
. "$servers/objects/served.sh"
. "$servers/objects/readings.sh"
. "$servers/objects/plan.sh"
. "$servers/objects/faults.sh"
. "$servers/objects/judge.sh"
. "$servers/objects/memory.sh"
. "$servers/objects/snippets.sh"

start_servers
where_servers_are
[ -z "$s3_runs" ] || make_named
while read -r method reads tls parameters <&3; do
    ! way "$WORKS" || slow_faults
done 3<"$folder/methods"
while read -r method reads tls parameters <&3; do
    way "$WORKS" || continue
    case $reads in
    object) objects ;;
    *) [ -z "$nginx_runs" ] || urls ;;
    esac
done 3<"$folder/methods"
misuse
wait_for_readings
judge_all
[ -z "${MEMORY_MAX_KIB-}" ] || judge_memory
[ -z "${SNIPPETS-}" ] || judge_snippets

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
