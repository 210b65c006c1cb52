#!/bin/bash
# Runs a part of the tests: `part.sh NAME COMMAND…`. What it prints is kept in target/parts/NAME, so that
# `part.sh failures` can repeat, after all parts, what was wrong: a failure in the middle of 5,000 lines is not found.
set -euo pipefail
cd "$(dirname "$0")/.."
logs=${CARGO_TARGET_DIR:-target}/parts

# Of cargo the sections on failures and errors, of `readlab verify` and scripts the end without what is right.
failures() {
    awk '/^failures:$/ { shown = 1 } /^test result:/ { shown = 0 }
        shown || /^error/ || /panicked at/ { print; any = 1 }
        ! / ok  / && ! / \.\.\. ok$/ { last[++lines] = $0 }
        END { if (!any) for (line = lines > 30 ? lines - 29 : 1; line <= lines; line++) print last[line] }' "$1"
}

if [ "$*" = failures ]; then
    for log in "$logs"/*.failed; do
        [ -e "$log" ] || continue
        echo "failed at $(date -r "$log" +%H:%M): $(basename "$log" .failed)"
        failures "$log"
    done
    exit
fi
name=${1:?usage: part.sh NAME COMMAND… | part.sh failures}
shift
mkdir -p "$logs"
rm -f "$logs/$name.failed"
start=$(date +%s%N)
"$@" 2>&1 | tee "$logs/$name" || { mv "$logs/$name" "$logs/$name.failed"; exit 1; }
echo "$start $(date +%s%N) $name" | awk '{ printf "part %s: %.2f s\n", $3, ($2 - $1) / 1e9 }' | tee -a "$logs/$name"
