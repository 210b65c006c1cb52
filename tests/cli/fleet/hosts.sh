#!/bin/sh
# Runs a command beside hosts that are namespaces of this machine: `hosts.sh HOSTS STORE COMMAND…`. Each host has a
# network, a name and mounts of its own; STORE is the folder of a server with a network of its own (/srv there), and
# every host mounts that by sshfs at /mnt, which makes a page cache of its own. The command runs where the hosts' bridge
# is, with READLAB_RSH as the program that starts others on a host ("host1", "host2" … and "store").
# LINK_OF_STORE and LINK_OF_HOST1 … limit what a link carries towards the hosts, as `tbf` takes rates. GROUP_OF_HOST1 …
# name a control group's file that takes the processes which are started on a host.
# Needs root, /dev/fuse, unshare, nsenter, ip, tc, sshfs and an sftp-server. Nothing is left: all of it is in a pid
# namespace that ends with this script.
set -eu
[ "${1-}" != inside ] && exec unshare --net --mount --pid --fork --kill-child --mount-proc sh "$0" inside "$@"
shift
hosts=$1
store=$2
shift 2

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mount -t tmpfs none /run
export READLAB_HOSTS="$work"
READLAB_RSH=$work/rsh
export READLAB_RSH
cat >"$READLAB_RSH" <<'RSH'
#!/bin/sh
# rsh HOST COMMAND…: as ssh would.
host=$1
shift
if [ -e "$READLAB_HOSTS/$host.group" ]; then echo $$ >"$(cat "$READLAB_HOSTS/$host.group")"; fi
exec nsenter --target "$(cat "$READLAB_HOSTS/$host")" --net --uts --mount sh -c "$*"
RSH
chmod +x "$READLAB_RSH"

# NAME ADDRESS [RATE]: a host on the bridge.
make_host() {
    unshare --net --uts --mount sh -c "hostname $1; exec sleep infinity" &
    pid=$!
    until [ "$(nsenter --target $pid --uts hostname 2>/dev/null)" = "$1" ]; do sleep 0.05; done
    echo $pid >"$work/$1"
    ip link add "to-$1" type veth peer name eth0 netns $pid
    ip link set "to-$1" master bridge up
    nsenter --target $pid --net sh -c "ip address add $2/24 dev eth0; ip link set eth0 up; ip link set lo up"
    [ -z "${3-}" ] || tc qdisc add dev "to-$1" root tbf rate "$3" burst 256k latency 50ms
    echo "$2 $1" >>"$work/names"
}

ip link set lo up
ip link add bridge type bridge
ip address add 10.77.0.254/24 dev bridge
ip link set bridge up
echo "127.0.0.1 localhost" >"$work/names"
make_host store 10.77.0.253
"$READLAB_RSH" store mount --bind "$store" /srv
# What leaves the store for the hosts.
[ -z "${LINK_OF_STORE-}" ] || nsenter --target "$(cat "$work/store")" --net \
    tc qdisc add dev eth0 root tbf rate "$LINK_OF_STORE" burst 256k latency 50ms
nsenter --target "$(cat "$work/store")" --net --uts --mount python3 -c '
import socket, subprocess, sys
listener = socket.create_server(("10.77.0.253", 7777))
while True:
    connection, _ = listener.accept()
    # Else each small answer waits for an acknowledgement, which the other end delays by 40 ms.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    subprocess.Popen(["/usr/lib/openssh/sftp-server"], stdin=connection, stdout=connection)
    connection.close()
' &
for number in $(seq "$hosts"); do
    eval "rate=\${LINK_OF_HOST$number-}"
    make_host "host$number" "10.77.0.$number" "$rate"
done
mount --bind "$work/names" /etc/hosts
for number in $(seq "$hosts"); do
    "$READLAB_RSH" "host$number" mount --bind "$work/names" /etc/hosts
    tries=0
    until "$READLAB_RSH" "host$number" sshfs -o directport=7777,kernel_cache store:/srv /mnt 2>"$work/why"; do
        tries=$((tries + 1))
        [ $tries -lt 50 ] || { cat "$work/why" >&2; exit 3; }
        sleep 0.1
    done
    # From here on: the daemon of the mount is not limited.
    eval "group=\${GROUP_OF_HOST$number-}"
    [ -z "$group" ] || echo "$group" >"$work/host$number.group"
done
"$@"
