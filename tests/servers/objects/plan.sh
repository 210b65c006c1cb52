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

# AT: files that a good server serves, and all ways; the target of a file is AT/FILE.
right_answers() {
    grep "^$method " "$folder/grid" >"$folder/ways"
    while read -r _ each_work each_scan <&3; do
        start text "text" "$each_scan" "$each_work" "$1/text"
    done 3<"$folder/ways"
    one empty "nothing" "$1/empty"
    one one-byte "one byte" "$1/one-byte"
    one long-text "20 MiB of text" "$1/long-text"
    # shellcheck disable=SC2046 # one word a parameter
    one long-text "20 MiB in small parts" "$1/long-text" $(small)
    for each in 0 1; do ! has kept || in_two_turns long-text "twice" "$1/long-text" kept=$each; done
    ! way "sum discard" || one random "20 MiB of all bytes" "$1/random"
    way "$WORKS"
}
WORKS='newlines lines sum discard'
in_two_turns() {
    turns='go 0 1
go 1 1'
    one "$@"
    turns='go 0 1'
}

certificates() {
    # Of a server that is trusted with the authority of the tests: AT, and the assignments in $with.
    one failed "no authority" "$1/text"
    with="$with READLAB_CACERT=$folder/absent.pem"
    one failed "an absent file of authorities" "$1/text"
}

urls() {
    at=$http/bucket
    with="READLAB_ETAG='$text_etag'"
    one text "without encryption" "$at/text"
    with="READLAB_ETAG='$OTHER_ETAG'"
    one failed "another ETag" "$at/text?$SECRET_QUERY"
    with="READLAB_TARGET='$at/missing?$SECRET_QUERY'"
    one failed "a missing file" -
    with="READLAB_TARGET='$NOWHERE/text?$SECRET_QUERY'"
    one failed "no server" -
    [ "$tls" != tls ] || encrypted_urls
    with="READLAB_CACERT=$cacert"
    right_answers "$at"
    one text "a name in percents" "$at/folder/what%3Fis=this%23then"
    with="$with READLAB_TARGET='$at/text?$SECRET_QUERY&case=$((cases + 1))'"
    one query "a URL in the environment" -
    faults
}

# Sets `at` for what follows.
encrypted_urls() {
    with=
    certificates "$https/bucket"
    with="READLAB_CACERT=$cacert READLAB_TARGET='$expired/bucket/text?$SECRET_QUERY'"
    one failed "an expired certificate" -
    with="READLAB_CACERT=$cacert READLAB_TARGET='$other_host/bucket/text?$SECRET_QUERY'"
    one failed "a certificate for another host" -
    for each in 1 2; do
        with="READLAB_CACERT=$cacert READLAB_TARGET='$https/bucket/text?case=$((cases + 1))'"
        ! has http || in_two_turns "version-$each" "HTTP/$each" - http=$each
    done
    at=$https/bucket
}

# ENDPOINT [ACCESS SECRET]: the environment of a store.
store() {
    echo "AWS_ENDPOINT_URL_S3='$1' AWS_REGION='$region' READLAB_S3_STYLE=path"
    [ $# = 1 ] || echo "AWS_ACCESS_KEY_ID='$2' AWS_SECRET_ACCESS_KEY='$3'"
}

objects() {
    if [ "$s3_runs" ]; then real_store; fi
    with=$(store "$NOWHERE" "$access" "$secret")
    one failed "no server" s3://bucket/text
    if [ "$nginx_runs" ]; then
        for each in "$expired" "$other_host"; do
            with="$(store "$each" "$access" "$secret") READLAB_CACERT=$cacert"
            one failed "an expired certificate, or for another host" s3://bucket/text
        done
    fi
    faults
    path=bucket/well.$((cases + 1))
    with=$(store "$faulty_endpoint")
    one anonymous "a public object" "s3://$path"
}

real_store() {
    with=$(store "$endpoint" "$access" "${secret}x")
    one failed "a wrong secret" s3://bucket/text
    with=$(store "$endpoint")
    one failed "not signed" s3://bucket/text
    with=$(store "$tls_endpoint" "$access" "$secret")
    certificates s3://bucket
    with="$(store "$tls_endpoint" "$access" "$secret") READLAB_CACERT=$s3_cacert"
    one text "with encryption" s3://bucket/text
    with=$(store "$endpoint" "$access" "$secret")
    one failed "a missing object" s3://bucket/missing
    one failed "a missing bucket" s3://missing-bucket/text
    for key in "$ODD_KEY" 'folder/what?is=this#then'; do one text "$key" "s3://bucket/$key"; done
    right_answers s3://bucket
    with="$with READLAB_ETAG='$OTHER_ETAG'"
    one failed "another ETag" s3://bucket/text
    with="$with READLAB_ETAG='\"by-hand\"'"
    # shellcheck disable=SC2046 # one word a parameter
    one text "its ETag" s3://bucket/text $(small)
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
