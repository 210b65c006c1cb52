# The most memory that a method needs for a reading of 256 MiB, by the kernel's count; for contenders/objects.sh.
# Sourced.

LARGE_BYTES=268435456

# PID: it and all that it started.
family() {
    echo "$1"
    for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do family "$child"; done
}

# PID: the sum of their peaks, in KiB.
peak_kib() {
    for each in $(family "$1"); do cat "/proc/$each/status" 2>/dev/null; done |
        awk '$1 == "VmHWM:" { sum += $2 } END { print sum + 0 }'
}

# TARGET [name=value …]: one reading by the method, whose memory is at most MEMORY_MAX_KIB beside what the parameters
# ask for.
memory_of() {
    target=$1
    shift
    run=$folder/runs/memory
    rm -f "$run.turns" "$run.out"
    mkfifo "$run.turns"
    (
        set -a
        eval "$with"
        exec "$program" read "$method" "$scan" "$work" "$target" "$@"
    ) <"$run.turns" >"$run.out" 2>"$run.err" 4>&- 5>&- 6>&- 7>&- 8>&- &
    reader=$!
    echo "$reader" >"$run.pid"
    exec 9>"$run.turns"
    echo 'go 0 1' >&9
    tries=0
    until grep -qE '"(done|failed)"' "$run.out" || [ $tries = 600 ]; do sleep 0.1; tries=$((tries + 1)); done
    peak=$(peak_kib "$reader")
    exec 9>&-
    wait "$reader"
    said="$peak KiB"
    check "$method: the memory for 256 MiB is known" [ "$peak" -gt 0 ]
    check "$method: 256 MiB in at most $allowed KiB${*:+, $*}" [ "$peak" -le "$allowed" ]
    said=$(cat "$run.out")
    check "$method: 256 MiB: its answer" answered large
}

judge_memory() {
    truncate -s $LARGE_BYTES "$folder/files/bucket/large"
    echo "$LARGE_BYTES 0 1 0" >"$folder/large.truth"
    while read -r method reads tls parameters <&3; do
        case " ${MEMORY_WHOLE-} " in *" $method "*) continue ;; esac
        way "$WORKS"
        at=$http/bucket
        with=
        [ "$reads" != object ] || { at=s3://bucket; with=$(store "$endpoint" "$access" "$secret"); }
        case $reads in
        object) [ "$s3_runs" ] || continue ;;
        *) [ "$nginx_runs" ] || continue ;;
        esac
        allowed=$MEMORY_MAX_KIB
        set --
        if has part_bytes; then allowed=$((allowed + 1024)); set -- part_bytes=1048576; fi
        if has concurrency; then allowed=$((MEMORY_MAX_KIB + 4 * 1024)); set -- "$@" concurrency=4; fi
        memory_of "$at/large" "$@"
    done 3<"$folder/methods"
}
