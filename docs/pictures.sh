#!/bin/sh
# Draws the pictures of the README and makes the pages of the gallery, from runs on this machine: half an hour, on a quiet
# one. `make pictures` and `make gallery` run it. Needs script (util-linux) and chromium for the pictures.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
target=${CARGO_TARGET_DIR:-$root/target}
readlab=$target/release/readlab
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
largest_page_bytes=400000

corpus() {
    # A link, so that no path of this machine is shown.
    ln -sf "$("$readlab" corpus make "$@")" "$folder/$1"
}

pictures() {
    corpus lines 256MiB
    columns=110 rows=34
    (cd "$folder" && TERM=xterm-256color script --quiet --flush --command \
        "stty columns $columns rows $rows; '$readlab' race lines --output run" typescript >/dev/null)
    "$target/release/readlab-picture" $columns $rows <"$folder/typescript" >docs/pictures/race.svg
    "$readlab" report "$folder/run" -o "$folder/page.html"
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,760 \
        --screenshot="$root/docs/pictures/page.png" "file://$folder/page.html" 2>/dev/null
    ls -l docs/pictures
}

# page NAME: the page of the run in $folder/NAME.
page() {
    "$readlab" report "$folder/$1" -o "docs/gallery/$1.html"
    bytes=$(wc -c <"docs/gallery/$1.html")
    [ "$bytes" -le "$largest_page_bytes" ] || { echo "docs/gallery/$1.html has $bytes bytes" >&2; exit 1; }
}

gallery() {
    corpus lines 64MiB
    corpus gdelt 64MiB
    cd "$folder"
    "$readlab" race lines --language rust,c,python --output race --quiet
    "$readlab" tune lines --output tune --quiet --state warm --method rust/read --method rust/mmap
    "$readlab" suite newlines --size 64MiB --output suite --quiet
    mkdir files
    "$readlab" sweep files --output sweep --quiet --repeat 5 --sizes 10kB..20MB
    cd "$root"
    for name in race tune suite sweep; do
        page $name
    done
}

"$1"
