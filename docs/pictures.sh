#!/bin/sh
# Draws the pictures of the README and makes the pages of the gallery, from runs on this machine: half an hour, on a quiet
# one. `make pictures` and `make gallery` run it; `make gallery ARGS='places parts'` makes some of the pages. Needs script
# (util-linux) and chromium for the pictures, root for some pages, and for the many hosts what tests/cli/fleet/hosts.sh needs.
set -eu
cd "$(dirname "$0")/.."
root=$(pwd)
target=${CARGO_TARGET_DIR:-$root/target}
folder=$(mktemp -d)
trap 'umount "$folder/overlay" 2>/dev/null || true; rm -rf "$folder"' EXIT
largest_page_bytes=400000
# The pages of the gallery, and those that only root can make: bounds on memory, an overlay, a setting of a device, many hosts.
pages='race objects tune suite memory places settings parts sweep scaling'
root_pages='memory places settings scaling'
# By its name alone, as pages show how they were made.
PATH=$target/release:$PATH
export PATH

corpus() {
    # A link, so that no path of this machine is shown.
    ln -sf "$(readlab corpus make "$@")" "$folder/$1"
}

# Five hosts that are namespaces of this machine; the store's link carries 400 Mbit/s.
scaling() {
    mkdir "$folder/store"
    cp "$(readlab corpus make lines 8MiB)" "$folder/store/lines"
    # shellcheck disable=SC2016 # the variable is set by the script
    (cd "$folder" && LINK_OF_STORE=400mbit "$root/tests/cli/fleet/hosts.sh" 5 "$folder/store" sh -c '
        exec mpirun.openmpi --mca plm_rsh_agent "$READLAB_RSH" "$@"' sh --allow-run-as-root --bind-to none \
        --mca btl_tcp_if_include 10.77.0.0/24 --mca oob_tcp_if_include 10.77.0.0/24 \
        --host host1,host2,host3,host4,host5 -n 5 --map-by ppr:1:node \
        readlab fleet scale /mnt/lines --hosts 1,2,3,4,5 --state cold --method rust/read/memchr --method rust/direct/memchr \
        --runs 8 --output scaling --quiet --no-progress)
}

# The charts of its page, without the rest.
draw_scaling() {
    [ -d "$folder/scaling" ] || scaling
    readlab report "$folder/scaling" -o "$folder/whole.html"
    style='<style>header, main > :not(#scaling), section:not(#scaling) { display: none }</style>'
    sed "s|</head>|$style</head>|" "$folder/whole.html" >"$folder/charts.html"
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,640 \
        --screenshot="$root/docs/pictures/scaling.png" "file://$folder/charts.html" 2>/dev/null
}

pictures() {
    draw_scaling
    corpus lines 256MiB
    columns=110 rows=34
    (cd "$folder" && TERM=xterm-256color script --quiet --flush --command \
        "stty columns $columns rows $rows; readlab race lines --output run" typescript >/dev/null)
    # Its first line is of script, not of readlab.
    { printf '$ readlab race lines\r\n'; sed 1d "$folder/typescript"; } |
        "$target/release/readlab-picture" $columns $rows >docs/pictures/race.svg
    readlab report "$folder/run" -o "$folder/page.html"
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size=1100,760 \
        --screenshot="$root/docs/pictures/page.png" "file://$folder/page.html" 2>/dev/null
    ls -l docs/pictures
}

# A folder, and the same files through an overlay on it.
overlay() {
    mkdir "$folder/lower" "$folder/empty" "$folder/overlay"
    cp "$folder/lines" "$folder/lower/lines"
    mount -t overlay -o "lowerdir=$folder/lower:$folder/empty" overlay "$folder/overlay"
}

# Ranges of 16 KiB in groups of five, with 48 KiB between two of them and 368 KiB between two groups.
ranges() {
    awk 'BEGIN { for (group = 0; group < 100; group++) for (n = 0; n < 5; n++) print group * 655360 + n * 65536, 16384 }'
}

# page NAME: the page of the run in $folder/NAME.
page() {
    readlab report "$folder/$1" -o "docs/gallery/$1.html"
    bytes=$(wc -c <"docs/gallery/$1.html")
    [ "$bytes" -le "$largest_page_bytes" ] || { echo "docs/gallery/$1.html has $bytes bytes" >&2; failed=1; }
}

# run NAME: the run of a page, in $folder/NAME. The races of memory, places and settings have a budget of two minutes; the
# other runs have none. Contenders that are not built yet are built first.
run() {
    case $1 in
        race) readlab race lines --language rust,c,python --output race --quiet ;;
        objects) readlab race --s3 lines --output objects --quiet ;;
        tune) readlab tune lines --output tune --quiet --state warm --method rust/read --method rust/mmap ;;
        suite)
            corpus gdelt 64MiB
            readlab suite newlines --size 64MiB --output suite --quiet
            ;;
        memory)
            readlab race lines --memory 50%,75%,90%,110% --work newlines \
                --method 'rust/{read,mmap,pread,direct}/memchr' --budget 2m --output memory --quiet
            ;;
        places)
            overlay
            readlab race lower/lines overlay/lines --method 'rust/{read,mmap,pread,direct}/memchr' --budget 2m \
                --output places --quiet
            ;;
        settings)
            readlab race lines --setting read-ahead=32KiB,4MiB --state cold \
                --method 'rust/{read,mmap,pread,direct}/memchr' --budget 2m --output settings --quiet
            ;;
        parts)
            ranges >ranges
            readlab race lines --ranges ranges --merge 0,64KiB,1MiB \
                --work newlines --method 'rust/places-{pread,preadv,mmap,io_uring}/memchr' --output parts --quiet
            ;;
        sweep)
            mkdir files
            readlab sweep files --output sweep --quiet --repeat 5 --sizes 10kB..20MB
            ;;
        scaling) scaling ;;
        *)
            echo "no page of the gallery is called $1; there are: $pages" >&2
            exit 2
            ;;
    esac
}

# gallery [NAME…]: makes these pages, or all. Pages that need root are left out for other users.
gallery() {
    failed=
    # shellcheck disable=SC2086 # the names are words
    [ $# -gt 0 ] || set -- $pages
    corpus lines 64MiB
    for name in "$@"; do
        case " $root_pages " in
            *" $name "*)
                if [ "$(id -u)" != 0 ]; then
                    echo "SKIPPED: docs/gallery/$name.html: its run needs root" >&2
                    continue
                fi
                ;;
        esac
        cd "$folder"
        run "$name"
        cd "$root"
        page "$name"
    done
    [ -z "$failed" ]
}

# The names of pages may follow the word gallery.
: "${1:?pictures or gallery}"
"$@"
