# Judges the readings of contenders/objects.sh: by what the contender said, then by what the servers saw. Sourced.

passed=0
failed=0
# WHAT, then a test; after a failure, the last output is shown.
check() {
    what=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$what" "$said" >&2
    fi
}

# The messages, in order and without counts: "hello ready sample done".
shape() { printf '%s\n' "$said" | sed -n '/^{.*"say": *"count".*}$/d; s/^{.*"say": *"\([a-z]*\)".*}$/\1/p; t
    s/^/not-a-message: /p' | tr '\n' ' ' | sed 's/ $//'; }

# FILE: whether every sample proves the work, and no number is impossible.
right() {
    read -r bytes newlines lines sum <"$folder/$1.truth"
    printf '%s\n' "$said" | awk -v work="$work" -v bytes="$bytes" -v newlines="$newlines" -v lines="$lines" \
        -v sum="$sum" '
        function told(name) {
            if (!match($0, "\"" name "\": *[0-9]+")) return ""
            value = substr($0, RSTART, RLENGTH)
            sub(/.*: */, "", value)
            return value
        }
        function wrong(why) { print "wrong: " why ": " $0 >"/dev/stderr"; exit failed = 1 }
        /"say": *"sample"/ {
            n++
            proof["bytes"] = bytes; proof["newlines"] = newlines; proof["lines"] = lines; proof["sum"] = sum
            for (name in proof)
                if (told(name) != "" && told(name) + 0 != proof[name] + 0) wrong(name " are " proof[name])
            if (told(work == "discard" ? "bytes" : work) == "" && (work != "newlines" || told("lines") == ""))
                wrong("no proof of " work)
            if (told("wall_ns") + 0 <= 0) wrong("no time")
            m = split("dns connect tls first_byte", times, " ")
            for (i = 1; i <= m; i++) if (told(times[i] "_ns") == "0") wrong(times[i] "_ns is 0")
            if (told("first_byte_ns") + 0 > told("wall_ns") + 0) wrong("the first byte came after the last")
            if (told("dns_ns") + told("connect_ns") + told("tls_ns") > told("wall_ns") + 0)
                wrong("the connection took longer than the reading")
            if (told("requests") != "" && told("requests") + 0 <= told("retries") + 0) wrong("only retries")
        }
        END { exit failed || n == 0 }'
}
answered() {
    case $(shape) in "hello ready sample done" | "hello ready sample done sample done") right "$1" ;; *) false ;; esac
}
# Whether it failed with a reason that begins with, or has, the target without its query.
refused() {
    case $(shape) in "hello failed" | "hello ready failed") ;; *) return 1 ;; esac
    printf '%s\n' "$said" | tail -n 1 | grep -qF "$shown"
}
unavailable() { [ "$(shape)" = "hello unavailable" ] || refused; }
# The file is named by a whole path, or by its variable.
refused_by_file() { refused || { shown=absent.pem; refused; } || { shown=READLAB_CACERT; refused; }; }
# Some readings, all right, then a failure or not.
nothing_wrong() {
    case $(shape) in
    "hello ready sample done failed") right "$1" ;;
    *) refused || answered "$1" ;;
    esac
}
counted() { told_in_samples retries | awk '$1 >= 1 { found = 1 } END { exit !found }'; }
told_in_samples() { printf '%s\n' "$said" | grep '"sample"' | sed -n "s/.*\"$1\": *\([0-9]*\).*/\1/p"; }
retried() { refused || { answered well && counted; }; }

# One reading; its fields are run, expected, work, shown, title.
judge() {
    said=$(cat "$run.out"; tail -n 2 "$run.err")
    status=$(cat "$run.status")
    if [ "$expected" = ends ] && [ "$status" = 124 ]; then
        echo "SKIPPED: $title: the client waits longer than ${PATIENCE_S} s" >&2
        return
    fi
    said=$(cat "$run.out")
    [ "$status" != 124 ] || said="$said
no end within its deadline"
    [ -n "$said" ] || said=$(tail -n 3 "$run.err")
    case $expected in
    failed | ends) check "$title: fails, and its reason has the target ($shown)" refused ;;
    either) check "$title: fails, or is right" nothing_wrong well ;;
    ranged) judge_ranged ;;
    no-file) check "$title: fails, and its reason has the target or the file" refused_by_file ;;
    unavailable) check "$title: fails or is unavailable" unavailable ;;
    retried) check "$title: fails, or is right and counts retries" retried ;;
    misspelled) check "$title: fails" [ "$(shape)" = "hello ready sample done failed" ] ;;
    argument) check "$title: fails" [ "$(shape)" = "hello failed" ] ;;
    anonymous | seen*) check "$title: its answer" answered well; judge_seen ;;
    query | version-*) check "$title: its answer" answered text; judge_by_nginx ;;
    *)
        true_answer=$(cat "$folder/$expected.truth")
        check "$title: its answer; true are $true_answer bytes, newlines, lines, sum" answered "$expected"
        ;;
    esac
}

# --- what the servers saw ----------------------------------------------------------------------------------------

seen() { grep -F " path=/bucket/${1##*/} " "$folder/faulty.log" >"$folder/seen"; }

# Only a request for a range can be answered with a wrong one, and only the second request with a change.
judge_ranged() {
    seen "$shown"
    case $shown in
    */changing.*) wrong=$(($(with_field 'method=GET') - 1)) ;;
    *) wrong=$(without_field 'range=-') ;;
    esac
    if [ "$wrong" -le 0 ]; then
        check "$title: fails, or is right" nothing_wrong well
    else
        check "$title: fails, and its reason has the target ($shown)" refused
    fi
}

# NAME=VALUE: how many of the requests have it, and how many of them have not.
with_field() { grep -cE " $1( |\$)" "$folder/seen"; }
without_field() { grep -cvE " $1( |\$)" "$folder/seen"; }
connections() { sed 's/^connection=\([0-9]*\) .*/\1/' "$folder/seen" | sort -u | wc -l; }

# Two turns are three readings, of which the samples count two.
requests_agree() {
    told=$(told_in_samples requests | awk '{ sum += $1 } END { print sum + 0 }')
    [ "$told" = 0 ] || [ $((told * 3)) = $((requests * 2)) ]
}

judge_seen() {
    seen "$shown"
    requests=$(wc -l <"$folder/seen")
    said=$(cat "$run.out"; head -n 20 "$folder/seen")
    check "$title: requests arrive" [ "$requests" -ge 1 ]
    check "$title: asks for bytes without an encoding" [ "$(without_field 'accept_encoding=(-|identity)')" = 0 ]
    case $shown in
    # A client may sign by a header or, in advance, by the query.
    s3://*) signed='(header|query)' token=yes ;;
    *) signed=query token=no ;;
    esac
    [ "$expected" != anonymous ] || signed=none token=no
    check "$title: credentials: $signed" [ "$(without_field "credentials=$signed")" = 0 ]
    check "$title: session token: $token" [ "$(without_field session_token=$token)" = 0 ]
    [ "$expected" != anonymous ] || return
    check "$title: every GET has If-Match" \
        [ "$(grep ' method=GET ' "$folder/seen" | grep -cv " if_match=$WELL_ETAG ")" = 0 ]
    check "$title: its count of requests is that of the server" requests_agree
    judge_parts_and_connections
}

judge_parts_and_connections() {
    # A client may need a moment to see that a connection is free again, and open another one instead.
    most=2
    case $title in
    *concurrency=3*) most=5 ;;
    esac
    # A method that joins parts has a parameter for it.
    case $title$said in
    *coalesce*) ;;
    *part_bytes=65536*)
        check "$title: asks for the second part, each time" [ "$(with_field 'range=bytes=65536-131071')" = 3 ]
        ;;
    esac
    case $expected in
    seen-0) check "$title: each reading has its own connections" [ "$(connections)" -ge 3 ] ;;
    seen-1) check "$title: connections stay; not more than $most" [ "$(connections)" -le $most ] ;;
    esac
}

judge_by_nginx() {
    number=${run##*/}
    grep "[?&]case=$number " "$nginx_log" >"$folder/seen"
    said=$(cat "$folder/seen")
    case $expected in
    query) check "$title: the whole query arrives" grep -qF "?$SECRET_QUERY&case=$number " "$folder/seen" ;;
    version-1) check "$title: HTTP/1.1" [ "$(without_field 'HTTP/1\.1')" = 0 ] ;;
    version-2) check "$title: HTTP/2" [ "$(without_field 'HTTP/2\.0')" = 0 ] ;;
    esac
}

# The log of a server that misbehaves; the request for the log is not in it.
fetch_log() { curl --silent --noproxy '*' --max-time 10 "$1/log" >"$folder/$2.log"; }

judge_all() {
    fetch_log "$faulty_endpoint" faulty
    fetch_log "$other" other
    while IFS='	' read -r run expected work shown title; do judge; done <"$folder/cases"
    said=$(cat "$folder/other.log")
    check "no redirect is followed, and nothing else is asked for credentials" [ -z "$said" ]
    for secret_ in "$SECRET_QUERY" "$FAULTY_ACCESS" "$FAULTY_SECRET" "$FAULTY_TOKEN" "$access" "$secret"; do
        [ -n "$secret_" ] || continue
        said=$(grep -lrF -- "$secret_" "$folder/runs" | head -n 3 | while read -r each; do
            grep -F "${each%.*}	" "$folder/cases" | cut -f 5
            grep -hF -- "$secret_" "$each" | head -n 1
        done)
        check "no output has a secret (${secret_%"${secret_#?????????}"}…)" [ -z "$said" ]
    done
}
