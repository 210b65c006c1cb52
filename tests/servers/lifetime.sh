# How long a server of these scripts runs: until the standard input of its script closes, or the script is killed.
# Sourced. Makes `work`, a folder for the server's files, and removes it at the end, when all that was started ends.
# Needs a POSIX shell.

# The server's messages are in English and its files are for this user alone.
LC_ALL=C
export LC_ALL
umask 077
exec 3<&0 </dev/null

SKIPPED=3
skip() {
    echo "SKIPPED: $1" >&2
    exit $SKIPPED
}
fail() {
    echo "$1" >&2
    exit 1
}

work=$(mktemp -d) || exit 1
servers=

finish() {
    trap '' HUP INT TERM
    trap - EXIT
    # shellcheck disable=SC2086 # one word a process
    [ -z "$servers" ] || kill $servers 2>/dev/null || :
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# COMMAND…: a server that also ends if this script is killed without a chance to end it.
if setpriv --pdeathsig TERM true 2>/dev/null; then
    mortal() { exec setpriv --pdeathsig TERM "$@"; }
else
    mortal() { exec "$@"; }
fi

# A port that is outside of the range that the kernel gives to outgoing connections. If another program has it, the
# server ends at once and the caller tries another one.
random_port() { echo $((20000 + $(od -An -N2 -tu2 /dev/urandom) % 12000)); }

# FILE PID: waits until the file says something, for at most ten seconds; fails if the process ends before.
wait_for() {
    tries=0
    until [ -s "$1" ]; do
        tries=$((tries + 1))
        [ $tries -le 200 ] && kill -0 "$2" 2>/dev/null || return 1
        sleep 0.05
    done
}

# Prints `ready`, and ends with the standard input or with the last server. The reader of the standard input is a
# process of its own that does not need this one: if this one is killed, it ends the servers all the same.
until_closed() {
    echo ready
    (
        trap - EXIT HUP INT TERM
        exec >/dev/null 2>&1
        while read -r _ <&3; do :; done
        finish
    ) &
    reader=$!
    exec 3<&-
    # shellcheck disable=SC2086 # one word a process
    wait ${servers##* } || :
    kill $reader 2>/dev/null || :
}
