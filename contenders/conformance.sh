#!/bin/sh
# Tests a contender in any language against PROTOCOL.md, from outside: `conformance.sh COMMAND…`. Every method, scan
# and work that it lists is run on files of awkward sizes and names, and each answer is compared with that of wc, od
# and awk; then misuse, failures, and whether a file is open or mapped between turns. Needs a POSIX shell and Linux.
# Methods that decode get the files compressed by the program of the format, and broken ones too.
# Methods that read only URLs or objects read no files: `readlab verify` tests them. Those that read lists or folders
# are tested by several_files.sh, those that read places of a file by places.sh; both are called at the end. Ends with
# "N passed, N failed"; exit 1 if any failed.
set -u
[ $# -gt 0 ] || { echo "usage: $0 COMMAND…" >&2; exit 2; }
. "$(dirname "$0")/checks.sh"

# The available ones: METHOD WORK SCAN, one a line.
said=$("$program" methods)
check "methods: a hello, then methods" [ "$(shape | tr ' ' '\n' | uniq | tr '\n' ' ')" = "hello method " ]
printf '%s\n' "$said" | grep '"unavailable"' | sed 's/.*"method": *"\([^"]*\)".*"unavailable": *"\(.*\)".*/SKIPPED: \1: \2/' >&2
printf '%s\n' "$said" | grep -vE '"reads": *"(url|object|list|folder|places)"' | grid >"$folder/grid"
# What each one decodes: METHOD FORMAT, one a line; those whose format no program here writes are skipped.
printf '%s\n' "$said" | grep -v '"unavailable"' |
    sed -n 's/": /":/g; s/.*"method":"\([^"]*\)".*"decodes":\["\([a-z0-9]*\)".*/\1 \2/p' >"$folder/decodes"
# FORMAT: compresses standard input.
pack() {
    case $1 in
    gzip | bzip2 | xz | zstd | lz4 | brotli) "$1" -c ;;
    *) return 1 ;;
    esac
}
while read -r method format; do
    if ! printf x | pack "$format" >/dev/null 2>&1; then
        echo "SKIPPED: $method: no program here writes $format" >&2
        grep -v "^$method " "$folder/grid" >"$folder/rest"
        mv "$folder/rest" "$folder/grid"
    fi
done <"$folder/decodes"
formats=$(sed 's/.* //' "$folder/decodes" | sort -u)
# FILE: writes it in every format.
pack_all() {
    for format in $formats; do
        mkdir -p "$folder/packed/$format"
        pack "$format" <"$1" >"$folder/packed/$format/${1##*/}$(ending "$format")" 2>/dev/null
    done
}
# A brotli is known by its name alone.
ending() { [ "$1" != brotli ] || echo .br; }
# METHOD FILE: sets target to the file in the form that the method reads.
choose() {
    target=$2
    format=$(sed -n "s/^$1 //p" "$folder/decodes")
    [ ! "$format" ] || target=$folder/packed/$format/${2##*/}$(ending "$format")
}
# Whether the contender reads no files: then only what needs none is tested.
reads_no_files() { [ ! -s "$folder/grid" ] && printf '%s\n' "$said" | grep -qE '"reads": *"(url|object|list|folder|places)"'; }
no_files=$(reads_no_files && echo yes)
[ "$no_files" ] || check "methods: some are to be had" [ -s "$folder/grid" ]
parts=$(printf '%s\n' "$said" | grep '"parts": *true' | grep -v '"unavailable"' | sed 's/.*"method": *"\([^"]*\)".*/\1/')
of_several='"reads": *"(list|folder)"|"lists": *true'
several=$(printf '%s\n' "$said" | grep -E "$of_several")
places=$(printf '%s\n' "$said" | grep '"reads": *"places"')
lists=$(printf '%s\n' "$several" | sed 's/.*"method": *"\([^"]*\)".*/\1/')

mkdir "$folder/text" "$folder/bytes"
make_files() (
    LC_ALL=C
    cd "$folder/text" || exit 1
    : >empty
    printf x >one-byte
    printf '\n' >one-newline
    printf 'first\nsecond\nthird' >no-final-newline
    awk 'BEGIN { for (i = 0; i < 10007; i++) print "" }' >only-newlines
    awk 'BEGIN { for (i = 0; i < 600; i++) { line = line "x"; print i % 7 ? line : "" } }' >lines-of-many-lengths
    for size in 4095 4096 4097 8191 8192 8193 65535 65536 65537; do
        awk -v size=$size 'BEGIN { for (i = 1; i < size; i++) printf "%s", i % 61 ? "y" : "\n"; printf "z" }' >$size-bytes
    done
    awk 'BEGIN { for (i = 0; i < 20000; i++) printf "long"; print ""; print "short" }' | head -c 60000 >a-long-line
    printf 'one\ntwo' >"$(printf "a 'b' \"c\"\\\\ \n\$(d) %%41 \303\244\377\376")"
    cd ../bytes || exit 1
    awk 'BEGIN { for (i = 0; i < 70000; i++) printf "%c", (i * 7919 + int(i / 256)) % 255 + 1 }' >every-byte
    head -c 200000 /dev/zero >zeros
)
make_files || exit 1

for file in "$folder"/text/* "$folder"/bytes/*; do
    truth "$file"
    pack_all "$file"
    while read -r method work scan; do
        # Files that are not text are for methods that visit bytes: those with the work sum.
        case $file in "$folder"/bytes/*) grep -q "^$method sum " "$folder/grid" || continue ;; esac
        choose "$method" "$file"
        answers "$method" "$scan" "$work" "$target"
    done <"$folder/grid"
done

# Parts of a file, for methods that read them: the first pages, the rest, and one beyond the end. What a part holds is
# written into a file of its own, so that its answers are found like those of the others.
file=$folder/text/65537-bytes
printf '%s\n' "$parts" | while read -r method; do grep "^$method " "$folder/grid"; done >"$folder/of-parts"
for part in 0:8192 8192:57345 61440:4096 61440:100000 131072:4096 4096:0; do
    start=${part%:*}
    length=${part#*:}
    tail -c "+$((start + 1))" "$file" | head -c "$length" >"$folder/part"
    truth "$folder/part"
    while read -r method work scan; do
        answers "$method" "$scan" "$work" "$file" "start_bytes=$start" "length_bytes=$length"
    done <"$folder/of-parts"
done

file=$folder/text/no-final-newline
sort -u -k 1,1 "$folder/grid" >"$folder/methods"

# Compressed files of several frames, cut short, and with other bytes behind the end.
whole=$folder/text/65537-bytes
cat "$whole" "$whole" >"$folder/twice"
while read -r method format; do
    line=$(grep "^$method .* -$" "$folder/grid" || grep "^$method " "$folder/grid" | head -n 1)
    # shellcheck disable=SC2086 # three words
    set -- $line
    [ $# = 3 ] || continue
    choose "$method" "$whole"
    broken=$folder/packed/$format/broken
    head -c "$(($(wc -c <"$target") - 1))" "$target" >"$broken-cut$(ending "$format")"
    fails broken-cut "$method" "$3" "$2" "$broken-cut$(ending "$format")"
    { cat "$target"; echo other bytes; } >"$broken-end$(ending "$format")"
    fails broken-end "$method" "$3" "$2" "$broken-end$(ending "$format")"
    [ "$format" != brotli ] || continue
    cat "$target" "$target" >"$folder/packed/$format/twice"
    truth "$folder/twice"
    answers "$method" "$3" "$2" "$folder/packed/$format/twice"
done <"$folder/decodes"

while read -r method work scan; do
    choose "$method" "$folder/text/no-final-newline"
    file=$target
    fails "absent.*no such file" "$method" "$scan" "$work" "$folder/absent"
    fails "$folder/text: .*directory" "$method" "$scan" "$work" "$folder/text"
    fails "" "$method" no-such-scan "$work" "$file"
    fails "" "$method" "$scan" no-such-work "$file"
    fails "" "$method" "$scan" "$work" "$file" no_such_parameter=1
    printf '%s\n' "$parts" | grep -qxF "$method" ||
        fails "" "$method" "$scan" "$work" "$file" start_bytes=0 length_bytes=1
    printf '%s\n' "$lists" | grep -qxF "$method" || fails "" "$method" "$scan" "$work" "$file" list=1
    fails "" "$method" "$scan" "$work" "$file" places=1
    holds_nothing no-final-newline "$method" "$scan" "$work" "$file"
done <"$folder/methods"

[ "$no_files" ] || {
    read -r method work scan <"$folder/methods"
    choose "$method" "$folder/text/no-final-newline"
    file=$target
}
fails "" no-such-method "${scan:--}" "${work:-discard}" "$file"
[ "$no_files" ] || for turn in "" go "go 1" "go 0 0" "go -1 1" "go 1 1 1" "stop 1 1" "go 0 4294967296" "go 0 99999999999999999999"; do
    said=$(printf 'go 0 1\n%s\n' "$turn" | "$program" read "$method" "$scan" "$work" "$file" 2>/dev/null)
    check "a turn spelled '$turn' fails" is "hello ready sample done failed"
done
said=$("$program" hello)
check "hello" is hello
for words in "" helo "hello x" read; do
    # shellcheck disable=SC2086 # one word a word
    said=$("$program" $words 2>/dev/null </dev/null)
    check "'$words' is no conversation" [ $? != 0 ]
done

echo "$passed passed, $failed failed"
[ -z "$several" ] || "$(dirname "$0")/several_files.sh" "$program" || failed=$((failed + 1))
[ -z "$places" ] || "$(dirname "$0")/places.sh" "$program" || failed=$((failed + 1))
[ "$failed" = 0 ]
