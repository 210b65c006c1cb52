#!/bin/sh
# Builds the contender and all broken ones into FOLDER, by the names of the faults, with roster.toml,
# which lists them all: `build.sh FOLDER`. Needs cc.
set -eu
[ $# = 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "$0")"
export folder
# A replacement need not use what it is given.
export flags="-std=gnu11 -O1 -Wall -Wextra -Werror -Wno-unused-parameter"
# shellcheck disable=SC2086 # one word a flag
cc $flags -c -o "$folder/contender.o" contender.c
cc -o "$folder/correct" "$folder/contender.o"
printf '%s\n' faults/*.c | xargs -n 1 -P "$(getconf _NPROCESSORS_ONLN)" sh -c '
    name=${1##*/}
    exec cc $flags -o "$folder/${name%.c}" "$1" "$folder/contender.o"' sh
for name in correct $(printf '%s\n' faults/*.c | sed 's/.*\///; s/\.c$//'); do
    printf '[[contender]]\nname = "%s"\nabout = "a test of verify"\nrun = ["%s"]\n' "$name" "$folder/$name"
done >"$folder/roster.toml"
