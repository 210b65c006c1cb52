# What contenders/objects.sh lets a method read from the server that misbehaves, and what it expects. Sourced.

asks_for_ranges() {
    case $parameters in
    *part_*,* | *block_*,* | *chunk_*,* | *range*,* | *concurrency,*) ;;
    *) return 1 ;;
    esac
}

# FAULT EXPECTED [name=value …]: an object of the server that misbehaves, with a name of its own.
faulty() {
    path=bucket/$1.$((cases + 1))
    title_of_fault=$1
    expected_of_fault=$2
    shift 2
    target_of_fault=s3://$path
    with="$(store "$faulty_endpoint" $FAULTY_ACCESS $FAULTY_SECRET) AWS_SESSION_TOKEN=$FAULTY_TOKEN"
    if [ "$reads" != object ]; then
        with="READLAB_TARGET='$faulty_endpoint/$path?$SECRET_QUERY'"
        target_of_fault=-
    fi
    with="$with READLAB_ETAG='$WELL_ETAG'"
    $turn "$expected_of_fault" "a server with: $title_of_fault${*:+, $*}" "$target_of_fault" "$@"
}

# Those that a client only ends by its own limit of time; started before all others.
slow_faults() {
    ! only_http_2 && first_of_its_client || return 0
    turn=one
    # shellcheck disable=SC2046 # one word a parameter
    set -- $(small)
    for fault in slow-header silent; do faulty $fault ends "$@"; done
}

faults() {
    turn=one
    # shellcheck disable=SC2046 # one word a parameter
    set -- $(small)
    for fault in truncated other-range shorter-range encoded other-etag; do faulty $fault failed "$@"; done
    if first_of_its_client; then
        for fault in slow-down reset chunk-cut redirect; do faulty $fault failed "$@"; done
        faulty slow-down-twice retried "$@"
    fi
    if asks_for_ranges; then
        for fault in longer-part shorter-part whole changing; do faulty $fault ranged "$@"; done
    fi
    turn=in_two_turns
    # Not every client can see what follows the promised bytes; it must not get into an answer, nor into the next one.
    faulty endless either "$@"
    has kept || faulty well seen "$@"
    has kept || return 0
    faulty well seen-1 "$@" kept=1
    # One range at once, so that connections that stay would be fewer than readings.
    # shellcheck disable=SC2046 # one word a parameter
    faulty well seen-0 $(small | sed 's/concurrency=3/concurrency=1/') kept=0
}
