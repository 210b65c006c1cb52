#!/bin/sh
# Tests how a contender in any language reads URLs and objects, from outside: `objects.sh COMMAND…`. Every method that
# it lists for them reads from nginx, from a real S3 server and from one that misbehaves (tests/servers), and each answer
# is compared with the true one; then what the servers saw is compared with what the contender said. Needs a POSIX
# shell, Linux, python3, curl, nginx, openssl and go; what is missing is skipped aloud. Ends with "N passed, N failed";
# exit 1 if any failed.
#
#   JOBS=N               how many readings run at once
#   METHODS='A B'        only these methods
#   MEMORY_MAX_KIB=N     also the most memory that a method may need for 256 MiB, beside part_bytes × concurrency;
#                        not of the methods in MEMORY_WHOLE='A B', whose interface returns everything at once
set -u
[ $# -gt 0 ] || { echo "usage: $0 COMMAND…" >&2; exit 2; }
LC_ALL=C.UTF-8
export LC_ALL
servers=$(cd "$(dirname "$0")/../tests/servers" && pwd) || exit 1

folder=$(mktemp -d) || exit 1
mkdir "$folder/runs" "$folder/files"
# Servers end with their standard input; readings that wait for an answer are ended first.
end() {
    exec 4>&- 5>&- 6>&-
    # shellcheck disable=SC2046 # one word a process
    kill $(cat "$folder"/runs/*.pid 2>/dev/null) 2>/dev/null
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' HUP INT TERM
command -v python3 >/dev/null 2>&1 || { echo "SKIPPED: URLs and objects: no python3 on the PATH" >&2; exit 0; }

SECRET_QUERY=token=SECRETQUERY0123456789
FAULTY_ACCESS=READLABACCESS0123456
FAULTY_SECRET=readlabsecret/0123+456789
FAULTY_TOKEN=readlabtoken0123456789
DEADLINE_S=45
PATIENCE_S=35

# --- the contender -----------------------------------------------------------------------------------------------

# The command as one program, so that arguments with blanks stay whole.
program=$folder/program
{
    echo '#!/bin/sh'
    printf exec
    for word in "$@"; do printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done
    echo ' "$@"'
} >"$program"
chmod +x "$program"

# Its methods, one a line: METHOD READS TLS PARAMETERS, and the grid: METHOD WORK SCAN.
"$program" methods | sed 's/": /":/g; s/, "/,"/g' | grep -E '"reads":"(url|both|object)"' >"$folder/listing"
grep '"unavailable"' "$folder/listing" |
    sed 's/.*"method":"\([^"]*\)".*"unavailable":"\(.*\)".*/SKIPPED: \1: \2/' >&2
awk -v grid="$folder/grid" -v only=" ${METHODS-} " '
    function text(name) { return match($0, "\"" name "\":\"[^\"]*\"") ? between(length(name) + 5, 1) : "" }
    function between(left, right) { return substr($0, RSTART + left - 1, RLENGTH - left - right + 1) }
    /"unavailable"/ { next }
    {
        method = text("method")
        if (only !~ /^ *$/ && !index(only, " " method " ")) next
        parameters = ","
        rest = $0
        while (match(rest, /"name":"[^"]*"/)) {
            parameters = parameters substr(rest, RSTART + 8, RLENGTH - 9) ","
            rest = substr(rest, RSTART + RLENGTH)
        }
        print method, text("reads"), (/"tls":true/ ? "tls" : "-"), parameters
        scans = $0; sub(/.*"scans":\{/, "", scans); sub(/\}.*/, "", scans)
        n = split(scans, works, "]")
        for (i = 1; i < n; i++) {
            work = works[i]; sub(/^,?"/, "", work); sub(/".*/, "", work)
            list = works[i]; sub(/.*\[/, "", list)
            m = split(list, each, ",")
            for (j = 1; j <= m; j++) { gsub(/"/, "", each[j]); print method, work, each[j] >grid }
        }
    }' "$folder/listing" >"$folder/methods"
[ -s "$folder/methods" ] || { echo "0 passed, 0 failed: it reads no URLs and no objects" >&2; exit 0; }

# --- the servers and what they serve -----------------------------------------------------------------------------

# DESCRIPTOR NAME COMMAND…: starts a server; it ends when the descriptor is closed. What it printed is in NAME.said.
serve() {
    name=$1
    shift
    mkfifo "$folder/$name.stdin"
    "$@" <"$folder/$name.stdin" >"$folder/$name.said" 4>&- 5>&- 6>&- &
    server=$!
}
served() {
    until grep -qx ready "$folder/$1.said"; do kill -0 "$2" 2>/dev/null || return 1; sleep 0.05; done
}
told() { sed -n "s/^$2=//p" "$folder/$1.said"; }

make_files() (
    cd "$folder/files" || exit 1
    mkdir bucket bucket/folder
    cd bucket || exit 1
    : >empty
    printf x >one-byte
    seq 1 20000 | head -c 65536 >text
    printf z >>text
    seq 1 4000000 | head -c 20971520 >long-text
    head -c 20971520 /dev/urandom >random
    cp text "folder/a b+c %41 \"d\" ä€&=;@:,.txt"
    cp text 'folder/what?is=this#then'
)
# Of each file: its bytes, newlines, lines and sum.
make_truths() {
    python3 - "$folder" "$1" <<'PYTHON'
import os, sys, urllib.request
folder, endpoint = sys.argv[1:]
bucket = folder + "/files/bucket/"
contents = {name: open(bucket + name, "rb").read() for name in os.listdir(bucket) if name != "folder"}
contents["well"] = urllib.request.build_opener(urllib.request.ProxyHandler({})).open(endpoint + "/well").read()
for name, content in contents.items():
    newlines = content.count(b"\n")
    lines = newlines + (content[-1:] not in (b"", b"\n"))
    with open(folder + "/" + name + ".truth", "w") as truth:
        print(len(content), newlines, lines, sum(content) % 256, file=truth)
PYTHON
}

make_files || exit 1
serve faulty python3 "$servers/misbehaving.py"; faulty=$server; exec 4>"$folder/faulty.stdin"
serve nginx "$servers/nginx.sh" "$folder/files"; nginx=$server; exec 5>"$folder/nginx.stdin"
serve s3 "$servers/s3.sh" "$folder/files"; s3=$server; exec 6>"$folder/s3.stdin"
served faulty $faulty || { echo "tests/servers/misbehaving.py does not start" >&2; exit 1; }
make_truths "$(told faulty endpoint)" || exit 1

# --- readings ----------------------------------------------------------------------------------------------------

slots=${JOBS:-$(($(nproc) + 2))}
mkfifo "$folder/slots"
exec 7<>"$folder/slots"
for _ in $(seq "$slots"); do echo >&7; done
cases=0

# TURNS PARAMETERS METHOD SCAN WORK TARGET [name=value …]: one session, in the environment of this shell. The proxies
# and the configuration are traps: a reading may use neither.
session() {
    turns=$1
    shift
    for _ in $(seq "$turns"); do echo 'go 0 1'; done |
        http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 HTTP_PROXY=http://127.0.0.1:9 \
            HTTPS_PROXY=http://127.0.0.1:9 ALL_PROXY=http://127.0.0.1:9 AWS_EC2_METADATA_DISABLED=true \
            AWS_SHARED_CREDENTIALS_FILE="$folder/credentials" AWS_CONFIG_FILE="$folder/config" \
            timeout "$limit" "$program" read "$@" >"$run.out" 2>"$run.err" 4>&- 5>&- 6>&- 7>&-
    echo $? >"$run.status"
}
printf '[default]\naws_access_key_id = READLABTRAP012345678\naws_secret_access_key = trap\n' >"$folder/credentials"
: >"$folder/config"

# EXPECTED NAME TURNS METHOD SCAN WORK TARGET [name=value …]: starts a reading when there is a slot, to be judged later.
# Its environment is the assignments in $with.
start() {
    expected=$1
    title=$2
    shift 2
    cases=$((cases + 1))
    run=$folder/runs/$cases
    limit=$DEADLINE_S
    echo "$run	$expected	$1	$4	$5	$2/$3 $title" >>"$folder/cases"
    if [ "$expected" = ends ]; then limit=$PATIENCE_S; else read -r _ <&7; fi
    (
        trap - EXIT HUP INT TERM
        set -a
        eval "$with"
        session "$@"
        [ "$expected" = ends ] || echo >&7
    ) &
    echo $! >"$run.pid"
}

# --- what is read ------------------------------------------------------------------------------------------------

has() { case $parameters in *",$1,"*) ;; *) return 1 ;; esac; }
# The first way of a method, for a file that is text or not: sets work and scan; fails if it has none.
way() {
    way=
    for work in ${1:-newlines lines sum discard}; do
        way=$(grep -m 1 "^$method $work " "$folder/grid") && break
    done
    [ -n "$way" ] && scan=${way##* }
}
# The parameters that make many small requests.
small() {
    ! has part_bytes || printf 'part_bytes=65536 '
    ! has concurrency || printf 'concurrency=3'
}

# EXPECTED NAME TARGET [name=value …]: one turn by the first way.
one() {
    expected=$1
    title=$2
    target=$3
    shift 3
    start "$expected" "$title" 1 "$method" "$scan" "$work" "$target" "$@"
}

# AT: files and ways that every server serves right; the target of a file is AT/FILE.
right_answers() {
    while read -r _ work scan; do
        start text "text, $work" 1 "$method" "$scan" "$work" "$1/text"
    done <<WAYS
$(grep "^$method " "$folder/grid")
WAYS
    way
    one empty "nothing" "$1/empty"
    one one-byte "one byte" "$1/one-byte"
    one long-text "20 MiB of text" "$1/long-text"
    # shellcheck disable=SC2046 # one word a parameter
    one long-text "20 MiB in small parts" "$1/long-text" $(small)
    ! way "sum discard" || one random "20 MiB of all bytes" "$1/random"
    way
}

# AT QUERY: what goes wrong on the server that misbehaves. AT? is a target, or `-` and the URL is in the environment.
faults() {
    # shellcheck disable=SC2046 # one word a parameter
    set -- "$1" $(small)
    at=$1
    shift
    for fault in truncated reset chunk-cut slow-down other-range shorter-range encoded other-etag precondition \
        redirect; do
        faulty "$fault" failed "$@"
    done
    # Nobody can see what follows the promised bytes; they must not get into an answer, nor into the next one.
    faulty endless either "$@"
    faulty slow-down-twice retried "$@"
    # Only who asks for a range can be answered with a wrong one.
    for fault in longer-part shorter-part whole changing; do
        if has part_bytes; then faulty $fault failed "$@"; else faulty $fault either "$@"; fi
    done
    faulty slow-header ends "$@"
    faulty silent ends "$@"
    for kept in 0 1; do
        ! has kept || faulty well "seen-$kept" "$@" kept=$kept
    done
    has kept || faulty well seen "$@"
}
