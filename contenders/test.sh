#!/bin/sh
# Tests a contender of the roster: `test.sh NAME`; READLAB is readlab's program. `readlab verify` builds it and tests it
# against the protocol, then snippets.sh tests the code that advice shows for it, and NAME/test.sh what is left, which
# finds in BUILD what was built. If what it is built with is not here, it is SKIPPED with the reason. `test.sh NAME build`
# builds it, unless it is built, and tests none of its methods.
set -eu
name=${1:?usage: test.sh NAME [build]}
cd "$(dirname "$0")"
# In Python a warning is a failure, for example one about a file that is not closed.
PYTHONWARNINGS=error
# The crates of a contender are compiled once for it and for its own tests, which time nothing: with less optimisation.
KEEP_TARGET=$PWD/$name/build/target
CARGO_PROFILE_RELEASE_OPT_LEVEL=1
export PYTHONWARNINGS KEEP_TARGET CARGO_PROFILE_RELEASE_OPT_LEVEL

if [ "${2-}" = build ]; then
    exec "${READLAB:?is not set: the program to build with}" verify "$name" --method none
fi

# Java starts hundreds of times for a moment: its second compiler would cost more than all tests. Other contenders are
# compiled and tested at the same time.
code=0
said=$(JDK_JAVA_OPTIONS=-XX:TieredStopAtLevel=1 "${READLAB:?is not set: the program to test with}" verify "$name" \
    --deadline 2m 2>&1) || code=$?
case $code:$said in
[12]:*": not verified: it needs "* | [12]:*": it needs "* | [12]:*"cannot be downloaded"*)
    echo "SKIPPED: $said" >&2
    exit 0
    ;;
esac
echo "$said"
[ "$code" = 0 ] || exit "$code"
method=$(echo "$said" | sed -n "s|^$name/\([^( ]*\)  *ok .*|\1|p" | head -n 1)
BUILD=$("$READLAB" request "$name/$method" "$PWD/test.sh" | sed -n "s|.*[ =':]\(/[^ =':]*/contenders/[^/]*/build\).*|\1|p")
export BUILD
case $name in
c | cpp | go | java | node | bun | deno | python | swift) ./snippets.sh "$name" ;;
python-data) PYTHON=$BUILD/venv/bin/python ./snippets.sh python-data python ;;
node-objects) (cd node-objects && ../server_snippets.sh node) ;;
python-objects) (cd python-objects && ../server_snippets.sh "$BUILD/venv/bin/python") ;;
esac
[ ! -e "$name/test.sh" ] || "$name/test.sh"
