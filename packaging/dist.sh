#!/bin/sh
# Makes what a release has, in target/dist/package: the static program in an archive, a Debian package, the crates in the
# order in which they are published, a Containerfile and a Homebrew formula for the archive. `make dist` runs it.
#
# Where the static target or its C compiler is missing, the program is linked to glibc, and the archive's name says so.
set -eu
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
target=${CARGO_TARGET_DIR:-target}
tools=$target/tools
package=$target/dist/package
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
repository=$(sed -n 's/^repository = "\(.*\)"/\1/p' Cargo.toml | head -n 1)

# A tool of cargo's, with what else its installation needs.
tool() {
    [ -x "$tools/bin/$1" ] || $cargo install --quiet --locked --root "$tools" "$@"
}

# The static target, if it is there or can be installed.
triple=$(rustc --version --verbose | sed -n 's/^host: //p')
static=$(uname -m)-unknown-linux-musl
if ! command -v musl-gcc >/dev/null 2>&1; then
    echo "SKIPPED: a static program: no musl-gcc (on Debian: apt-get install musl-tools)" >&2
elif ! rustup target add "$static" 2>/dev/null && ! rustc --target "$static" --print target-libdir >/dev/null 2>&1; then
    echo "SKIPPED: a static program: this Rust has no target $static" >&2
else
    triple=$static
fi

# Where cargo-deb looks for what Cargo.toml names under target/release.
extra=$target/$triple/dist/extra
rm -rf "$extra" "$package"
mkdir -p "$extra" "$package"
$cargo build --profile dist --package readlab --target "$triple"
program=$target/$triple/dist/readlab
cp "$program" "$target/dist/readlab"
"$program" man >"$extra/readlab.1"
"$program" completions bash >"$extra/readlab.bash"
"$program" completions fish >"$extra/readlab.fish"
"$program" completions zsh >"$extra/_readlab"
tool cargo-about --features cli
"$tools/bin/cargo-about" generate --locked --fail --config packaging/about.toml --manifest-path crates/readlab/Cargo.toml \
    --output-file "$extra/THIRD-PARTY.txt" packaging/licences.hbs
cp README.md REFERENCE.md METHOD.md REPORT.md PROTOCOL.md GLOSSARY.md LICENSE-APACHE LICENSE-MIT "$program" "$extra"
archive=readlab-$version-$triple
tar -C "$extra" --owner=0 --group=0 --transform "s|^\.|$archive|" -czf "$package/$archive.tar.gz" .

tool cargo-deb
"$tools/bin/cargo-deb" deb --package readlab --profile dist --no-build --no-strip --target "$triple" --output "$package"

# In the order in which they are published: each needs those before it.
for crate in $(packaging/crates.sh); do
    set -- "$@" --package "$crate"
done
$cargo package "$@" --allow-dirty --no-verify --quiet
for crate in $(packaging/crates.sh); do
    cp "$target/package/$crate-$version.crate" "$package"
done

sum=$(sha256sum "$package/$archive.tar.gz" | cut -d ' ' -f 1)
for file in Containerfile readlab.rb; do
    sed "s|@VERSION@|$version|g; s|@TARGET@|$triple|g; s|@SHA256@|$sum|g; s|@REPOSITORY@|$repository|g" \
        "packaging/$file" >"$package/$file"
done
packaging/check.sh "$package" "$archive"
ls -l "$package"
