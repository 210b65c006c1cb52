#!/bin/sh
# Tests what a contender in any language reads of lists and folders, from outside:
# `several_files.sh COMMAND…`. Every such method, scan and work that it lists reads files of awkward
# sizes, and each answer, with the proof of each file, is compared with that of wc, od and awk. Below
# the folder are things that no method may read: links to a folder above and to files, a pipe, an
# empty folder. Then failures, each with the name of the file, and whether anything is open between
# turns. Needs a POSIX shell and Linux. conformance.sh calls it. Ends with "N passed, N failed"; exit
# 1 if any failed.
set -u
[ $# -gt 0 ] || { echo "usage: $0 COMMAND…" >&2; exit 2; }
. "$(dirname "$0")/checks.sh"
# A method that waits for a pipe does not end by itself.
DEADLINE_S=20
with_deadline=$folder/with-deadline
printf '#!/bin/sh\nexec timeout -s KILL %s "%s" "$@"\n' $DEADLINE_S "$program" >"$with_deadline"
chmod +x "$with_deadline"

said=$("$program" methods)
printf '%s\n' "$said" | grep -E '"reads": *"(list|folder)"|"lists": *true' >"$folder/methods"
grep '"unavailable"' "$folder/methods" |
    sed 's/.*"method": *"\([^"]*\)".*"unavailable": *"\(.*\)".*/SKIPPED: \1: \2/' >&2
grep '"cache": *"none"' "$folder/methods" |
    sed 's/.*"method": *"\([^"]*\)".*/SKIPPED: \1: it is a control, which need not prove files/' >&2
# METHOD WORK SCAN, one a line, of methods that read lists and of those that read folders.
grep -v '"cache": *"none"' "$folder/methods" >"$folder/read"
grep -v '"reads": *"folder"' "$folder/read" | grid >"$folder/list.grid"
grep '"reads": *"folder"' "$folder/read" | grid >"$folder/folder.grid"
check "methods: some read lists or folders" [ -s "$folder/read" ]

tree=$folder/tree
raw=$folder/raw
of_folder() { find "$1" -type f -print0 >"$1.list"; }

# FILE: its truth in one line.
line_of() {
    truth "$1"
    echo "$bytes $newlines $lines $sum"
}

# NAME: standard input becomes a file of the tree.
add() {
    cat >"$tree/$1"
    line_of "$tree/$1" >>"$folder/truths"
}

# BYTES: as many, of every value.
some() {
    LC_ALL=C awk -v size="$1" '
        BEGIN { for (i = 0; i < size; i++) printf "%c", i % 41 == 7 ? 10 : (i * 31 + size) % 255 + 1 }'
}

# COUNT: as many newlines.
newlines() { head -c "$1" /dev/zero | tr '\0' '\n'; }

make_tree() {
    mkdir -p "$tree/nested/deep/er" "$tree/nested/empty" "$raw"
    : | add empty
    printf x | add .hidden
    printf '\n' | add nested/one-newline
    printf 'one\ntwo' | add nested/deep/unended
    head -c 5000 /dev/zero | add nested/deep/er/zeros
    printf 'a name\n' | add "nested/$(printf "a 'b' \"c\"\\\\ \n\$(d) %%41 \303\244")"
    for size in 4095 4096 4097 65536; do some $size | add nested/deep/$size; done
    some 2100001 | add larger-than-any-buffer
    # Where the proof's numbers wrap.
    for name in 65520-newlines nested/65520-newlines; do newlines 65520 | add $name; done
    newlines 70000 | add nested/70000-newlines
    # A second name of a file is a file.
    ln "$tree/.hidden" "$tree/nested/second-name"
    line_of "$tree/nested/second-name" >>"$folder/truths"
    # What is not read.
    some 3000 >"$folder/outside"
    ln -s .. "$tree/nested/loop"
    ln -s "$tree" "$tree/nested/deep/loop"
    ln -s "$folder/outside" "$tree/link-to-a-file"
    ln -s ../larger-than-any-buffer "$tree/nested/link-to-a-file"
    ln -s nowhere "$tree/link-to-nothing"
    mkfifo "$tree/nested/pipe"
    printf 'one\ntwo' >"$raw/$(printf '\377\376')"
    of_folder "$tree"
    of_folder "$raw"
}

# The truth of several files, from lines of "bytes newlines lines sum".
truth_of_files() {
    # shellcheck disable=SC2046 # one word a number
    set -- $(awk '
        function product(value) { return ($1 % 65521 + 1) * (value % 65521 + 1) }
        {
            bytes += $1; newlines += $2; lines += $3; sum += $4
            of_newlines += product($2); of_lines += product($3); of_sum += product($4); of_bytes += product($1)
        }
        END {
            most = 4294967296
            printf "%.0f %.0f %.0f %.0f %.0f ", NR, bytes, newlines, lines, sum % 256
            printf "%.0f %.0f %.0f %.0f\n", of_newlines % most, of_lines % most, of_sum % most, of_bytes % most
        }')
    pieces=files count=$1 bytes=$2 newlines=$3 lines=$4 sum=$5
    shift 5
    products=$*
}

# METHOD PARAMETER: whether it has it.
has() { grep "\"method\": *\"$1\"" "$folder/read" | grep -q "\"name\": *\"$2\""; }

# METHOD SCAN WORK TARGET [list=1]: with settings that share files and their bytes in other ways.
settings() {
    for setting in workers=1 workers=7 concurrency=1 concurrency=7 threads=1 threads=7 buffer_bytes=512; do
        ! has "$1" "${setting%=*}" || answers "$@" "$setting"
    done
}

# A folder with a file that cannot be read, not even by root: some of the kernel's own can only be
# written.
find_unreadable() {
    if [ "$(id -u)" != 0 ]; then
        unreadable=$folder/unreadable
        mkdir "$unreadable"
        echo secret >"$unreadable/closed"
        chmod 000 "$unreadable/closed"
        return
    fi
    unreadable=$(find /sys/bus/*/ -maxdepth 1 -name drivers_probe ! -perm -u+r 2>/dev/null | head -n 1)
    unreadable=${unreadable%/drivers_probe}
    [ -n "$unreadable" ] || echo "SKIPPED: a folder with a file that cannot be read: root reads every file here" >&2
}

make_tree
find_unreadable
some 10 >"$folder/there"
printf '%s\0' "$folder/there" "$folder/vanished" "$folder/there" >"$folder/vanished.list"
printf '%s\0%s' "$folder/there" "$folder/there" >"$folder/cut.list"
printf '%s\0\0' "$folder/there" >"$folder/gap.list"
printf '%s\0' "$folder/there" "$folder/there" >"$folder/twice.list"

program_alone=$program
program=$with_deadline
truth_of_files <"$folder/truths"
for kind in list folder; do
    target=$tree word=
    [ $kind = folder ] || target=$tree.list word=list=1
    while read -r method work scan; do answers "$method" "$scan" "$work" "$target" $word; done <"$folder/$kind.grid"
    grep -v ' discard ' "$folder/$kind.grid" | sort -u -k 1,1 >"$folder/$kind.methods"
    while read -r method work scan; do settings "$method" "$scan" "$work" "$target" $word; done <"$folder/$kind.methods"
done

program=$program_alone
while read -r method work scan; do
    holds_nothing "$tree" "$method" "$scan" "$work" "$tree.list" list=1
    fails_of vanished: "$method" "$scan" "$work" "$folder/vanished.list" list=1
    for broken in cut gap absent; do fails "$broken.list" "$method" "$scan" "$work" "$folder/$broken.list" list=1; done
done <"$folder/list.methods"
while read -r method work scan; do
    holds_nothing "$tree" "$method" "$scan" "$work" "$tree"
    fails_of absent: "$method" "$scan" "$work" "$folder/absent"
    [ -z "$unreadable" ] || fails_of "$unreadable/" "$method" "$scan" "$work" "$unreadable"
    fails "" "$method" "$scan" "$work" "$tree" list=1
done <"$folder/folder.methods"

{ line_of "$folder/there"; line_of "$folder/there"; } >"$folder/truths"
truth_of_files <"$folder/truths"
while read -r method work scan; do
    answers "$method" "$scan" "$work" "$folder/twice.list" list=1
done <"$folder/list.methods"

line_of "$raw"/* >"$folder/truths"
truth_of_files <"$folder/truths"
while read -r method work scan; do
    spells "$raw"/* "$method" "$scan" "$work" "$raw.list" list=1
done <"$folder/list.methods"
while read -r method work scan; do
    spells "$raw"/* "$method" "$scan" "$work" "$raw"
done <"$folder/folder.methods"

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
