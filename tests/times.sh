#!/bin/sh
# Runs the tests with a clock, and prints what took longest: steps, single tests, checks of contenders. `times.sh` runs
# the first ring, `times.sh all` both. Each line is seconds and a name.
set -eu
cd "$(dirname "$0")/.."
case $#,${1-} in
0, | 1,all) ring=${1-first} ;;
*) echo "usage: $0 [all]" >&2; exit 2 ;;
esac
cargo=${CARGO:-cargo}
record=$(mktemp)
trap 'rm -f "$record" "$record.tests"' EXIT
failed=

# Runs a command as a step of this name. Its output goes to standard error.
step() {
    name=$1
    shift
    start=$(date +%s%N)
    "$@" >&2 || failed="$failed, $name"
    echo "$start $(date +%s%N) $name" | awk '{ seconds = ($2 - $1) / 1e9; $1 = $2 = ""; printf "%.2f%s\n", seconds, substr($0, 2) }' >>"$record"
}

# Tests of the workspace, each with its seconds: a compiler that is no nightly one measures them if it is asked to by
# this variable. It is set for the test programs alone, as cargo would build everything anew.
tests() {
    host=$(rustc --version --verbose | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
    env "CARGO_TARGET_${host}_RUNNER=env RUSTC_BOOTSTRAP=1" \
        "$cargo" test --workspace --tests --no-fail-fast -- "$@" -Zunstable-options --report-time \
        >"$record.tests" || { grep -v ' \.\.\. ok' "$record.tests"; return 1; }
}

# The lines `test NAME ... ok <1.234s>`.
longest_tests() {
    sed -n 's/^test \([^ ]*\).* <\([0-9.]*\)s>$/\2 \1/p' "$record.tests" >>"$record"
}

step "format" "$cargo" fmt --check
step "build of the tests" "$cargo" test --workspace --no-run
step "lints" "$cargo" clippy --workspace --all-targets
step "tests of the first ring" tests --skip ring2::
longest_tests
step "examples in documentation" "$cargo" test --workspace --doc
if [ "$ring" = all ]; then
    step "tests of the second ring" tests ring2::
    longest_tests
    step "names and inodes" "$cargo" test --workspace --test metadata
    step "documentation" "$cargo" doc --workspace --no-deps --document-private-items
    for name in $(sed -n 's/^name = "\(.*\)"/\1/p' contenders/roster.toml); do
        case $name in rust | command) ;; *) step "contender $name" "${MAKE:-make}" "contender-$name" ;; esac
    done
fi
sort -rn "$record" | head -n 50
[ -z "$failed" ] || { echo "failed:${failed#,}" >&2; exit 1; }
