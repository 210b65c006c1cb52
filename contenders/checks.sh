# What the tests of contenders from outside have in common: a folder that goes with them, the
# contender as one program, and checks of what it said last. Sourced by conformance.sh,
# several_files.sh and places.sh, with the contender's command as the arguments.
LC_ALL=C.UTF-8
export LC_ALL

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

# WHAT, then a test; after a failure, the last output is shown.
check() {
    checked=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n%s\n' "$checked" "$said" >&2
    fi
}

# The messages, in order, without counts of a runtime and what single reads took:
# "hello ready sample done".
shape() { printf '%s\n' "$said" | sed -n '/^{.*"say": *"\(count\|latencies\)".*}$/d; s/^{.*"say": *"\([a-z]*\)".*}$/\1/p; t
    s/^/not-a-message: /p' | tr '\n' ' ' | sed 's/ $//'; }

# Whether the answer has this shape.
is() { [ "$(shape)" = "$1" ]; }

# Whether the last line's reason has these words, ignoring case.
reason() { printf '%s\n' "$said" | tail -n 1 | grep '"say": *"failed"' | grep -qi "\"reason\": *\".*$1"; }

# The correct answer of a file.
truth() {
    bytes=$(wc -c <"$1")
    newlines=$(wc -l <"$1")
    lines=$newlines
    [ "$bytes" = 0 ] || [ "$(tail -c 1 "$1" | od -An -tu1 | tr -d ' ')" = 10 ] || lines=$((newlines + 1))
    sum=$(od -An -v -tu1 "$1" | awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum % 256 }')
}

# Of several files or blocks: the word for them in messages, how many they are, and their products
# by what is counted: newlines, lines, sum, bytes.
pieces=
count=
products=

# Whether every sample proves the work ($1), and no number is wrong.
right() {
    printf '%s\n' "$said" | awk -v work="$1" -v bytes="$bytes" -v newlines="$newlines" -v lines="$lines" -v sum="$sum" \
        -v pieces="$pieces" -v count="$count" -v products="$products" '
        BEGIN {
            split("newlines lines sum bytes", counts); split(products, each)
            for (i in counts) product[counts[i]] = each[i]
        }
        function told(name) {
            if (!match($0, "\"" name "\": *[0-9]+")) return ""
            value = substr($0, RSTART, RLENGTH)
            sub(/.*: */, "", value)
            return value
        }
        /"say": *"sample"/ {
            n++
            proof["bytes"] = bytes; proof["newlines"] = newlines; proof["lines"] = lines; proof["sum"] = sum
            for (name in proof) if (told(name) != "" && told(name) + 0 != proof[name] + 0) exit wrong = 1
            if (work == "discard" ? told("bytes") == "" : told(work) == "" && (work != "newlines" || told("lines") == ""))
                exit wrong = 1
            if (told("wall_ns") + 0 <= 0) exit wrong = 1
            if (pieces == "") next
            counted = work == "discard" ? "bytes" : told(work) == "" ? "lines" : work
            if (told(pieces) == "" || told(pieces) + 0 != count + 0) exit wrong = 1
            if (told("products") == "" || told("products") + 0 != product[counted] + 0) exit wrong = 1
        }
        END { exit wrong || n != 2 }'
}

# Whether the answer is that the runtime cannot spell the name of this file, which is not UTF-8.
is_not_spelled() {
    ! printf %s "${1##*/}" | iconv -f UTF-8 -t UTF-8 >/dev/null 2>&1 &&
        printf '%s\n' "$said" | tail -n 1 | grep -q '"reason": *".* spell '
}

# METHOD SCAN WORK FILE [name=value ...]: two turns, the second after an untimed reading.
answers() {
    said=$(printf 'go 0 1\ngo 1 1\n' | "$program" read "$@" 2>"$folder/stderr") || is "hello unavailable" || said="$said
$(tail -n 1 "$folder/stderr")"
    what="$1/$2 $3 of ${4##*/} ${5-} ${6-}"
    true="$bytes bytes, $newlines newlines, $lines lines, sum $sum"
    [ -z "$pieces" ] || true="$true, of $count $pieces with the products $products"
    if is "hello unavailable"; then
        check "$what: is unavailable for its name" is_not_spelled "$4"
        return
    fi
    check "$what: its turns" is "hello ready sample done sample done"
    check "$what: its answers; true are $true" right "$3"
}

# PATH METHOD SCAN WORK TARGET […]: a file whose name is not UTF-8 is read, or the failure says that
# it cannot be spelled.
spells() {
    path=$1
    shift
    said=$(printf 'go 0 1\ngo 1 1\n' | "$program" read "$@" 2>/dev/null)
    what="$1 of a name that is not UTF-8"
    case $(shape) in
    "hello ready sample done sample done") check "$what" right "$3" ;;
    *) check "$what: it says so" is_not_spelled "$path" ;;
    esac
}

# Of the lines of methods: METHOD WORK SCAN of those that are available, one a line.
grid() {
    sed 's/": /":/g; s/, "/,"/g' | awk '
        /"say":"method"/ && !/"unavailable"/ {
            method = $0; sub(/.*"method":"/, "", method); sub(/".*/, "", method)
            scans = $0; sub(/.*"scans":{/, "", scans); sub(/}.*/, "", scans)
            n = split(scans, works, "]")
            for (i = 1; i < n; i++) {
                work = works[i]; sub(/^,?"/, "", work); sub(/".*/, "", work)
                list = works[i]; sub(/.*\[/, "", list)
                m = split(list, each, ",")
                for (j = 1; j <= m; j++) { gsub(/"/, "", each[j]); print method, work, each[j] }
            }
        }'
}

# METHOD WORDS…: one turn that must fail, with words in its reason.
fails() {
    words=$1
    shift
    said=$(printf 'go 0 1\n' | "$program" read "$@" 2>/dev/null)
    case $words in
    "") check "read $*: fails with a reason" is "hello failed" ;;
    *) check "read $*: fails for: $words" reason "$words" ;;
    esac
}

# PATH METHOD WORDS…: one turn that must fail, with this path, or a part of it, in its reason.
fails_of() {
    path=$1
    shift
    fails "$path" "$@"
    check "$1 of $path: its messages" is "hello ready failed"
}

# HELD METHOD WORDS…: a session with a turn of an untimed and two timed readings, between turns and
# at its end. HELD is a part of the path of every file that it reads.
holds_nothing() {
    held=$1
    shift
    "$program" read "$@" <"$folder/turns" >"$folder/out" 2>/dev/null &
    exec 9>"$folder/turns"
    echo "go 1 2" >&9
    tries=0
    until grep -qs '"done"' "$folder/out" || [ $tries = 300 ] || ! kill -0 $!; do sleep 0.1; tries=$((tries + 1)); done
    # One that does not come to its end is ended.
    [ $tries -lt 300 ] || kill -KILL $!
    said=$(cat "$folder/out"; ls -l "/proc/$!/fd"; grep "$held" "/proc/$!/maps")
    check "$1 holds no file between turns" sh -c '! printf "%s\n" "$1" | grep -q "$2"' sh "$said" "$held"
    exec 9>&-
    wait $!
    check "$1 exits with 0 when its turns end" [ $? = 0 ]
    said=$(cat "$folder/out")
    check "$1: a turn of two after an untimed one" is "hello ready sample sample done"
}

mkfifo "$folder/turns"
. "$(dirname "$0")/program.sh"
