# The servers from which contenders/objects.sh lets a contender read, and the files that they serve. Sourced.

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
    cp text "$ODD_KEY"
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

# Starts all of them. A server that cannot be had leaves its variable `…_runs` empty.
start_servers() {
    make_files || exit 1
    serve faulty python3 "$servers/misbehaving.py"
    faulty=$server
    exec 4>"$folder/faulty.stdin"
    serve nginx "$servers/nginx.sh" "$folder/files"
    nginx=$server
    exec 5>"$folder/nginx.stdin"
    serve s3 "$servers/s3.sh" "$folder/files"
    s3=$server
    exec 6>"$folder/s3.stdin"
    served faulty "$faulty" || { echo "tests/servers/misbehaving.py does not start" >&2; exit 1; }
    make_truths "$(told faulty endpoint)" || exit 1
    nginx_runs=
    ! served nginx "$nginx" || nginx_runs=yes
    s3_runs=
    ! served s3 "$s3" || s3_runs=yes
}

# The contender as a program that resolves the name of the host with the bucket; empty if that cannot be made here.
make_named() {
    named=$folder/named
    printf '#!/bin/sh\nexec "%s/named.sh" "%s" "%s" "$@"\n' "$servers" "$(told s3 virtual_host)" "$program" >"$named"
    chmod +x "$named"
    "$servers/named.sh" "$(told s3 virtual_host)" true || named=
}

where_servers_are() {
    faulty_endpoint=$(told faulty endpoint)
    other=$(told faulty other)
    http=$(told nginx http)
    https=$(told nginx https)
    cacert=$(told nginx cacert)
    expired=$(told nginx expired)
    other_host=$(told nginx other_host)
    nginx_log=$(told nginx log)
    endpoint=$(told s3 endpoint)
    tls_endpoint=$(told s3 tls_endpoint)
    virtual_endpoint=$(told s3 virtual_endpoint)
    virtual_tls_endpoint=$(told s3 virtual_tls_endpoint)
    s3_cacert=$(told s3 cacert)
    region=$(told s3 region)
    region=${region:-test-region-1}
    access=$(told s3 access_key)
    secret=$(told s3 secret_key)
    [ -z "$nginx_runs" ] ||
        text_etag=$(curl --silent --noproxy '*' --head "$http/bucket/text" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: //p')
}
