#!/bin/sh
# Checks what `make dist` made, as far as that needs neither a registry nor another system: the archive runs in an empty
# root, the Debian package holds the program, the formula is Ruby, and nothing is left to be filled in.
set -eu
package=$1 archive=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed() {
    echo "$package: $1" >&2
    exit 1
}
tar -C "$folder" -xf "$package/$archive.tar.gz"
program=$folder/$archive/readlab
"$program" --version
case $archive in
*-musl) [ "$(id -u)" != 0 ] || chroot "$folder/$archive" /readlab --version >/dev/null || failed "the program is not static" ;;
esac
grep -q 'Apache License' "$folder/$archive/THIRD-PARTY.txt" || failed "the texts of the licences are missing"
for file in README.md REFERENCE.md METHOD.md REPORT.md PROTOCOL.md GLOSSARY.md LICENSE-APACHE LICENSE-MIT readlab.1 _readlab; do
    [ -s "$folder/$archive/$file" ] || failed "$archive.tar.gz has no $file"
done
dpkg-deb --contents "$package"/*.deb | grep -q ' ./usr/bin/readlab$' || failed "the Debian package has no program"
! grep -n '@[A-Z0-9]*@' "$package/Containerfile" "$package/readlab.rb" || failed "these lines were not filled in"
grep -q "$archive.tar.gz" "$package/Containerfile" || failed "the Containerfile takes another archive"
if command -v ruby >/dev/null 2>&1; then
    ruby -c "$package/readlab.rb" >/dev/null || failed "the formula is no Ruby"
else
    echo "SKIPPED: the syntax of the formula: no ruby" >&2
fi
