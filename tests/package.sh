#!/bin/sh
# Installs readlab from its packages as a registry would give them: in an empty folder, from vendored sources, offline,
# with an empty home. Then runs what an installed readlab must be able to do. Takes some minutes, so it is no part of
# `make test`; `make test-package` runs it.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
crates=$(packaging/crates.sh)
target=$(pwd)/${CARGO_TARGET_DIR:-target}
folder=$(mktemp -d "$target/package-test.XXXXXX")
trap 'rm -rf "$folder"' EXIT

packages=
for crate in $crates; do
    packages="$packages --package $crate"
done
# shellcheck disable=SC2086 # one word an option
$cargo package $packages --allow-dirty --no-verify --quiet
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
mkdir "$folder/.cargo" "$folder/home"
$cargo vendor --quiet --locked --versioned-dirs "$folder/vendor" >/dev/null
{
    printf '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "%s/vendor"\n' "$folder"
    echo '[patch.crates-io]'
    for crate in $crates; do
        tar -C "$folder" -xf "$target/package/$crate-$version.crate"
        printf '%s = { path = "%s/%s-%s" }\n' "$crate" "$folder" "$crate" "$version"
    done
} >"$folder/.cargo/config.toml"
# A workspace of its own: the folder is below that of this project.
printf '[workspace]\nresolver = "3"\nmembers = ["readlab-%s"]\n' "$version" >"$folder/Cargo.toml"
# Without any optimisation the control that visits memory is slower than the readers in C, which are refused then.
printf '[profile.dev]\nopt-level = 1\n' >>"$folder/Cargo.toml"
# Which commit it is built from is not in a package; the folder must not be taken for a part of this repository.
cd "$folder/readlab-$version"
GIT_DIR=/nonexistent $cargo install --debug --offline --quiet --path . --root "$folder/installed"

cd "$folder/home"
seq 100000 >numbers.txt
export HOME="$folder/home"
readlab() {
    echo "readlab $*"
    "$folder/installed/bin/readlab" "$@" >"$folder/said" 2>&1 || { cat "$folder/said"; exit 1; }
}
readlab build c
readlab race numbers.txt --runs 3 --state warm --method 'rust/*' --method 'c/*' --no-progress
readlab suite newlines numbers.txt --runs 3 --no-progress
readlab claims newlines
readlab compare published:zip-lines --fit zip/wall machine.max_turbo_ghz
readlab tune numbers.txt --state warm --method rust/read --space 'buffer=64KiB|1MiB' --no-progress
echo "what the packages hold is enough: $(du -ck "$target"/package/readlab*-"$version".crate | tail -n 1 | cut -f 1) KiB"
