#!/bin/sh
# Tests what a contender in any language reads at places of a file, from outside:
# `places.sh COMMAND…`. Every such method, scan and work that it lists reads blocks of awkward sizes
# at awkward places, and each answer, with the proof of each block, is compared with that of tail,
# head, wc, od and awk. Then lists that are broken, files that have no such place, each with its
# name, a file that is cut off between turns, and whether anything is open between turns. Needs a
# POSIX shell and Linux. conformance.sh calls it. Ends with "N passed, N failed"; exit 1 if any
# failed.
set -u
[ $# -gt 0 ] || { echo "usage: $0 COMMAND…" >&2; exit 2; }
. "$(dirname "$0")/checks.sh"
# How often a turn is looked for, every tenth of a second.
TRIES=300

said=$("$program" methods)
printf '%s\n' "$said" | grep '"reads": *"places"' >"$folder/methods"
grep '"unavailable"' "$folder/methods" |
    sed 's/.*"method": *"\([^"]*\)".*"unavailable": *"\(.*\)".*/SKIPPED: \1: \2/' >&2
grep -E '"cache": *"(none|bypass)"' "$folder/methods" |
    sed 's/.*"method": *"\([^"]*\)".*/SKIPPED: \1: it is a control, or a device decides which blocks it reads/' >&2
# METHOD WORK SCAN, one a line.
grep -vE '"cache": *"(none|bypass)"' "$folder/methods" | grid >"$folder/grid"
check "methods: some read places" [ -s "$folder/grid" ]

# Bytes of every value; in blocks of 512 bytes, newlines of a different density in each.
data=$folder/data
DATA_BYTES=3200000
LC_ALL=C awk -v size=$DATA_BYTES 'BEGIN {
    for (i = 0; i < size; i++) {
        block = int(i / 512)
        printf "%c", i % (block % 37 + 3) == 0 ? 10 : (i * 31 + block * 7) % 255 + 1
    }
}' >"$data"

# Standard input, a number a line, in 64 bits each, the lowest byte first.
as_bytes() {
    # shellcheck disable=SC2059 # the format is the bytes
    printf "$(awk '{ for (i = 0; i < 8; i++) { printf "\\%03o", $1 % 256; $1 = int($1 / 256) } }')"
}

# FILE BLOCK: a list of the places at which the offsets of standard input are, a line each.
list_of() { printf '%s\0' "$1" && { echo "$2" && cat; } | as_bytes; }

# FILE BLOCK: the truth of the blocks at the offsets in $folder/offsets.
truth_of_blocks() {
    sort -nu "$folder/offsets" | while read -r offset; do
        tail -c "+$((offset + 1))" "$1" | head -c "$2" >"$folder/block"
        truth "$folder/block"
        echo "$offset $bytes $newlines $sum"
    done >"$folder/truths"
    # shellcheck disable=SC2046 # one word a number
    set -- $(awk '
        function product(value) { return ((FNR - 1) % 65521 + 1) * (value % 65521 + 1) }
        NR == FNR { bytes[$1] = $2; newlines[$1] = $3; sum[$1] = $4; next }
        {
            all_bytes += bytes[$1]; all_newlines += newlines[$1]; all_sum += sum[$1]
            of_bytes += product(bytes[$1]); of_newlines += product(newlines[$1]); of_sum += product(sum[$1])
        }
        END {
            most = 4294967296
            printf "%.0f %.0f %.0f %.0f ", FNR, all_bytes, all_newlines, all_sum % 256
            printf "%.0f %.0f %.0f\n", of_newlines % most, of_sum % most, of_bytes % most
        }' "$folder/truths" "$folder/offsets")
    pieces=blocks count=$1 bytes=$2 newlines=$3 lines=0 sum=$4
    products="$5 0 $6 $7"
}

# METHOD PARAMETER: whether it has it.
has() { grep "\"method\": *\"$1\"" "$folder/methods" | grep -q "\"name\": *\"$2\""; }

# METHOD SCAN WORK LIST: by itself, and with one and several reads in flight.
answers_in_flight() {
    answers "$@" places=1
    for setting in threads=1 threads=3 depth=3; do
        ! has "$1" "${setting%=*}" || answers "$@" places=1 "$setting"
    done
}

# NAME BLOCK OFFSET…, one case a line: places that come again, in no order, at no multiple of the
# block, and at the file's end.
cases() {
    echo "one-block 4096 8192"
    echo "all-of-it $DATA_BYTES 0"
    echo "of-512 512 1023488 0 512 512 $((DATA_BYTES - 512)) 2560 0 1024 1023488"
    echo "of-4096 4096 40960 0 4096 2097152 4096 40960 3194880 12288"
    echo "of-1MiB 1048576 2097152 0 1048576 0"
    echo "unaligned 4096 1 $((DATA_BYTES - 4096)) 4095 513 8191"
    echo "of-1000 1000 999 $((DATA_BYTES - 1000)) 0 77777 999"
    echo "of-1-byte 1 7 0 3 7 $((DATA_BYTES - 1))"
}

cases | while read -r name block offsets; do
    printf '%s\n' "$offsets" | tr ' ' '\n' >"$folder/$name.offsets"
    list_of "$data" "$block" <"$folder/$name.offsets" >"$folder/$name.list"
    echo "$name $block"
done >"$folder/cases"
# Where the numbers of places wrap.
awk 'BEGIN { for (i = 0; i < 70000; i++) print i * 512 % 3584 }' >"$folder/more-than-65521.offsets"
list_of "$data" 512 <"$folder/more-than-65521.offsets" >"$folder/more-than-65521.list"
echo "more-than-65521 512" >>"$folder/cases"

while read -r name block; do
    cp "$folder/$name.offsets" "$folder/offsets"
    truth_of_blocks "$data" "$block"
    while read -r method work scan; do
        answers_in_flight "$method" "$scan" "$work" "$folder/$name.list"
    done <"$folder/grid"
done <"$folder/cases"

# Names that need care.
printf '%s\n' 0 4096 >"$folder/offsets"
truth_of_blocks "$data" 4096
awkward="$folder/$(printf "a 'b' \"c\"\\\\ \n\$(d) %%41 \303\244")"
raw=$folder/raw$(printf '\377\376')
cp "$data" "$awkward"
cp "$data" "$raw"
list_of "$awkward" 4096 <"$folder/offsets" >"$folder/awkward.list"
list_of "$raw" 4096 <"$folder/offsets" >"$folder/raw.list"

# What cannot be read: files without such a place, and lists that are none.
head -c 5000 "$data" >"$folder/short"
mkdir "$folder/nested"
for name in short absent nested; do
    list_of "$folder/$name" 4096 <"$folder/offsets" >"$folder/$name.list"
done
echo 4611686018427387904 | list_of "$data" 4096 >"$folder/beyond.list"
{ echo 0 | list_of "$data" 4096; printf '\377\377\377\377\377\377\377\377'; } >"$folder/negative.list"
broken=$folder/broken
mkdir "$broken"
: >"$broken/empty"
printf '%s' "$data" >"$broken/no-zero-byte"
printf '%s\0' "$data" >"$broken/no-numbers"
list_of "" 4096 <"$folder/offsets" >"$broken/no-path"
head -c "$(($(wc -c <"$folder/short.list") - 1))" "$folder/short.list" >"$broken/cut"
# No machine has the memory for such a block.
echo 0 | list_of "$data" 1152921504606846976 >"$folder/blocks-too-large.list"

# METHOD SCAN WORK: a turn, then one after the file has been cut off.
shrinks() {
    cp "$data" "$folder/shrinking"
    list_of "$folder/shrinking" 4096 <"$folder/offsets" >"$folder/shrinking.list"
    : >"$folder/out"
    said=$({
        echo "go 0 1"
        tries=0
        until grep -q '"done"' "$folder/out" || [ $tries = $TRIES ]; do
            sleep 0.1
            tries=$((tries + 1))
        done
        head -c 5000 "$data" >"$folder/shrinking"
        echo "go 0 1"
    } | "$program" read "$@" "$folder/shrinking.list" places=1 2>/dev/null | tee "$folder/out")
    check "$1 of a file that is cut off: its turns" is "hello ready sample done failed"
    check "$1 of a file that is cut off: its name" reason "$folder/shrinking: "
}

# METHOD SCAN WORK: words that mean nothing to it.
refuses() {
    list=$folder/one-block.list
    fails "" "$1" "$2" "$3" "$list"
    fails "" "$1" "$2" lines "$list" places=1
    fails "" "$1" no-such-scan "$3" "$list" places=1
    for words in list=1 "start_bytes=0 length_bytes=1" no_such_parameter=1 threads=0; do
        # shellcheck disable=SC2086 # one word a word
        fails "" "$1" "$2" "$3" "$list" places=1 $words
    done
}

sort -u -k 1,1 "$folder/grid" >"$folder/each"
while read -r method work scan; do
    answers "$method" "$scan" "$work" "$folder/awkward.list" places=1
    spells "$raw" "$method" "$scan" "$work" "$folder/raw.list" places=1
    holds_nothing "$data" "$method" "$scan" "$work" "$folder/of-4096.list" places=1
    shrinks "$method" "$scan" "$work"
    fails "absent.*no such file" "$method" "$scan" "$work" "$folder/absent.list" places=1
    for of in short:short absent:absent nested:nested data:beyond data:negative; do
        fails_of "$folder/${of%:*}: " "$method" "$scan" "$work" "$folder/${of#*:}.list" places=1
        ! has "$method" threads ||
            fails_of "$folder/${of%:*}: " "$method" "$scan" "$work" "$folder/${of#*:}.list" places=1 threads=3
    done
    for list in "$broken"/* "$folder/no-such.list"; do
        fails "$list: " "$method" "$scan" "$work" "$list" places=1
    done
    fails . "$method" "$scan" "$work" "$folder/blocks-too-large.list" places=1
    refuses "$method" "$scan" "$work"
done <"$folder/each"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
