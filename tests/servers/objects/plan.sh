# What contenders/objects.sh lets a method read from servers that behave, and what it expects. Sourced.

has() { case $parameters in *",$1,"*) ;; *) return 1 ;; esac; }
# WORKS: the method's first way of doing one of them: sets work and scan.
way() {
    for work in $1; do
        way=$(grep -m 1 "^$method $work " "$folder/grid") || continue
        scan=${way##* }
        return
    done
    return 1
}
# The parameters that make many small requests.
small() {
    ! has part_bytes || printf 'part_bytes=65536 '
    ! has concurrency || printf 'concurrency=3'
}
# EXPECTED TITLE TARGET [name=value …]: a reading by that way.
one() { expected_=$1 title_=$2 target_=$3; shift 3; start "$expected_" "$title_" "$scan" "$work" "$target_" "$@"; }

# AT: the target of a file is AT/FILE. Every way of the method and every file that a good server serves comes up at
# least once; more only if there are more of the one than of the other.
right_answers() {
    grep "^$method " "$folder/grid" >"$folder/ways"
    printf '%s\n' long-text text one-byte empty >"$folder/files-to-read"
    ways=$(wc -l <"$folder/ways")
    for number in $(seq "$((ways > 4 ? ways : 4))"); do
        # The words of a line: METHOD WORK SCAN FILE.
        # shellcheck disable=SC2046 # one word an argument
        set -- "$1" $(nth "$number" "$folder/ways") $(nth "$number" "$folder/files-to-read")
        start "$5" "$5" "$4" "$3" "$1/$5"
    done
    ! way "sum discard" || one random "20 MiB of all bytes" "$1/random"
    way "$WORKS"
    kept_in_parts "$1" 0
}
# NUMBER FILE: a line, counted from the first again after the last.
nth() { sed -n "$((($1 - 1) % $(wc -l <"$2") + 1))p" "$2"; }
# AT KEPT: two turns, with connections that stay or not where the method has that choice.
kept_in_parts() {
    # shellcheck disable=SC2046 # one word a parameter
    set -- "$1" $(small) $(! has kept || echo "kept=$2")
    at_=$1
    shift
    in_two_turns long-text "20 MiB twice${*:+, $*}" "$at_/long-text" "$@"
}
WORKS='newlines lines sum discard'
in_two_turns() {
    turns='go 0 1
go 1 1'
    one "$@"
    turns='go 0 1'
}

# AT: of a server that is trusted with the authority of the tests; the assignments in $with say where it is.
certificates() {
    one failed "no authority" "$1/text"
    with="$with READLAB_CACERT=$folder/absent.pem"
    one no-file "an absent file of authorities" "$1/text"
}
# What methods of one client have in common is tested by the first of them. The client is known by the method's name up
# to its first dot or dash: S3Client and S3Client-ranged, boto3.get_object and boto3.ranged.
first_of_its_client() {
    first=$(cut -d ' ' -f 1 "$folder/methods" | grep -m 1 "^${method%%[.-]*}\([.-]\|\$\)")
    [ "$method" = "$first" ]
}

urls() {
    at=$http/bucket
    with="READLAB_ETAG='$text_etag'"
    if only_http_2; then
        one unavailable "without encryption" "$at/text?$SECRET_QUERY"
        encrypted_urls
        with="READLAB_CACERT=$cacert"
        right_answers "$at"
        kept_in_parts "$at" 1
        echo "SKIPPED: $method: the server that misbehaves, which does not speak HTTP/2" >&2
        return
    fi
    # shellcheck disable=SC2046 # one word a parameter
    one text "without encryption" "$at/text" $(small)
    with="READLAB_ETAG='$OTHER_ETAG'"
    one failed "another ETag" "$at/text?$SECRET_QUERY"
    with="READLAB_TARGET='$at/missing?$SECRET_QUERY'"
    one failed "a missing file" -
    with="READLAB_TARGET='$NOWHERE/text?$SECRET_QUERY'"
    ! first_of_its_client || one failed "no server" -
    trust=
    [ "$tls" != tls ] || trusting || plain_only
    [ -z "$trust" ] || encrypted_urls
    with=$trust
    right_answers "$at"
    one text "a name in percents" "$at/folder/what%3Fis=this%23then"
    with="$with READLAB_TARGET='$at/text?$SECRET_QUERY&case=$((cases + 1))'"
    one query "a URL in the environment" -
    faults
}

# Whether the method can trust the authority of the tests; sets `trust`, the assignment for it.
trusting() {
    trust="READLAB_CACERT=$cacert"
    ! READLAB_CACERT=$cacert "$program" read "$method" "$scan" "$work" "$https/bucket/text" </dev/null 2>/dev/null \
        4>&- 5>&- 6>&- 7>&- 8>&- | grep -q '"unavailable"'
}
plain_only() {
    echo "SKIPPED: $method: https, as it only trusts the authorities of the system" >&2
    trust=
    with=
    one failed "no authority" "$https/bucket/text"
}

# Whether the method speaks HTTP/2 only, as its parameter says, and so needs encryption.
only_http_2() { has http && ! has http=1; }

# Sets `at` for what follows.
encrypted_urls() {
    ! first_of_its_client || untrusted_urls
    for each in 1 2; do
        with="READLAB_CACERT=$cacert READLAB_TARGET='$https/bucket/text?case=$((cases + 1))'"
        ! has http=$each || in_two_turns "version-$each" "HTTP/$each" - http=$each
    done
    at=$https/bucket
}

untrusted_urls() {
    with=
    certificates "$https/bucket"
    with="READLAB_CACERT=$cacert READLAB_TARGET='$expired/bucket/text?$SECRET_QUERY'"
    one failed "an expired certificate" -
    with="READLAB_CACERT=$cacert READLAB_TARGET='$other_host/bucket/text?$SECRET_QUERY'"
    one failed "a certificate for another host" -
}

# ENDPOINT [ACCESS SECRET]: the environment of a store, with buckets in the path or as `style` says.
store() {
    echo "AWS_ENDPOINT_URL_S3='$1' AWS_REGION='$region' READLAB_S3_STYLE=${style:-path}"
    [ $# = 1 ] || echo "AWS_ACCESS_KEY_ID='$2' AWS_SECRET_ACCESS_KEY='$3'"
}

objects() {
    if [ "$s3_runs" ]; then
        real_store
        [ -z "$named" ] || virtual_hosts
    fi
    ! first_of_its_client || refused_objects
    faults
}

real_store() {
    with="$(store "$tls_endpoint" "$access" "$secret") READLAB_CACERT=$s3_cacert"
    kept_in_parts s3://bucket 1
    with=$(store "$endpoint" "$access" "$secret")
    one failed "a missing object" s3://bucket/missing
    one text "$ODD_KEY" "s3://bucket/$ODD_KEY"
    with="$with READLAB_ETAG='$OTHER_ETAG'"
    one failed "another ETag" s3://bucket/text
    with="$(store "$endpoint" "$access" "$secret") READLAB_ETAG='\"by-hand\"'"
    right_answers s3://bucket
}

# The bucket in the name of the host: with it in the path, no name would resolve.
virtual_hosts() {
    reader=$named
    style=virtual
    with=$(store "$virtual_endpoint" "$access" "$secret")
    one text "the bucket in the host, $ODD_KEY" "s3://bucket/$ODD_KEY"
    with="$(store "$virtual_tls_endpoint" "$access" "$secret") READLAB_CACERT=$s3_cacert"
    # shellcheck disable=SC2046 # one word a parameter
    one long-text "the bucket in the host, with TLS" s3://bucket/long-text $(small)
    style=path
    with=$(store "$virtual_endpoint" "$access" "$secret")
    ! first_of_its_client || one failed "a host that has no name" s3://bucket/text
    reader=$program
}

# What a client refuses, or is refused, whatever the method; and what it reads without credentials.
refused_objects() {
    if [ "$s3_runs" ]; then
        with=$(store "$endpoint" "$access" "${secret}x")
        one failed "a wrong secret" s3://bucket/text
        with=$(store "$endpoint")
        one failed "not signed" s3://bucket/text
        with=$(store "$tls_endpoint" "$access" "$secret")
        certificates s3://bucket
    fi
    with=$(store "$NOWHERE" "$access" "$secret")
    one failed "no server" s3://bucket/text
    if [ "$nginx_runs" ]; then
        with="$(store "$other_host" "$access" "$secret") READLAB_CACERT=$cacert"
        one failed "a certificate for another host" s3://bucket/text
        with="$(store "$expired" "$access" "$secret") READLAB_CACERT=$cacert"
        one failed "an expired certificate" s3://bucket/text
    fi
    path=bucket/well.$((cases + 1))
    with=$(store "$faulty_endpoint")
    one anonymous "a public object" "s3://$path"
}

# What no method takes; of the first one alone.
misuse() {
    read -r method reads tls parameters <"$folder/methods"
    way "$WORKS"
    with=$(store "$faulty_endpoint" $FAULTY_ACCESS $FAULTY_SECRET)
    target=s3://bucket/well
    [ "$reads" = object ] || target=$faulty_endpoint/bucket/well
    start argument "no such scan" no-such-scan "$work" "$target"
    start argument "no such work" "$scan" no-such-work "$target"
    one argument "no such parameter" "$target" no_such_parameter=1
    ! has part_bytes || one argument "parts too small" "$target" part_bytes=65535
    ! has concurrency || one argument "nothing at once" "$target" concurrency=0
    for wrong in go 'go 0 0' 'stop 1 1'; do
        turns="go 0 1
$wrong"
        one misspelled "a turn spelled '$wrong'" "$target"
    done
    turns='go 0 1'
}
