# Names the C sources that the crate glommio has with it, in GLOMMIO_LIBURING_DIR. Without the name its build script runs
# `git submodule update` in whatever repository it is in, and needs git. Downloads the crates of Cargo.lock. Sourced in
# this folder.
host=$(rustc --version --verbose | sed -n 's/^host: //p')
GLOMMIO_LIBURING_DIR=$(cargo metadata --quiet --locked --format-version 1 --filter-platform "$host" |
    sed -n 's|.*"manifest_path":"\([^"]*/glommio-[^/"]*\)/Cargo.toml".*|\1/liburing|p')
export GLOMMIO_LIBURING_DIR
[ -d "$GLOMMIO_LIBURING_DIR" ] || { echo "the crate glommio, with the sources of liburing, cannot be downloaded" >&2; exit 1; }
