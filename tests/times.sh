#!/bin/sh
# Runs the tests with a clock, and prints what took longest: parts, and single tests. `times.sh` runs the first ring,
# `times.sh all` both. Each line is seconds and a name.
set -eu
cd "$(dirname "$0")/.."
case $#,${1-} in
0,) ring=test ;;
1,all) ring=test-all ;;
*) echo "usage: $0 [all]" >&2; exit 2 ;;
esac
parts=${CARGO_TARGET_DIR:-target}/parts
rm -rf "$parts"
# A compiler that is no nightly one has tests say their seconds if this variable is set. It is set for the test programs
# alone, as cargo would build everything anew.
host=$(rustc --version --verbose | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
code=0
env "CARGO_TARGET_${host}_RUNNER=env RUSTC_BOOTSTRAP=1" \
    "${MAKE:-make}" "$ring" CLOCK='-Zunstable-options --report-time' >&2 || code=$?
# Of a part the line `NAME: 12.34 s`, of a test `test NAME ... ok <1.234s>`.
sed -n -e 's/^part \(.*\): \([0-9.]*\) s$/\2 \1/p' -e 's/^test \([^ ]*\).* <\([0-9.]*\)s>$/\2 \1/p' "$parts"/* |
    sort -rn | head -n 50
exit "$code"
