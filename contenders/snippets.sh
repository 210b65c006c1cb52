#!/bin/sh
# Tests the code that advice shows: `snippets.sh NAME [LANGUAGE]`, the language of a contender of another name; PYTHON
# is the interpreter that has the libraries of its snippets. Each compiles without a warning beside every scan that it
# takes, and gives the counts of wc on files of awkward sizes. The snippets of Rust are tested by
# rust/tests/snippets.rs. Ends with "N snippets passed, N failed"; exit 1 if any failed.
set -u
contender=${1:?usage: snippets.sh NAME [LANGUAGE]}
language=${2:-$contender}
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
# Within the project, where a compiler in a separate folder can read it.
mkdir -p "$here/$contender/build" && folder=$(mktemp -d "$here/$contender/build/snippets.XXXXXX") || exit 1
trap 'rm -rf "$folder"' EXIT
passed=0
failed=0

cd "$folder" || exit 1
: >empty
printf 'a\n' >one
printf 'a\nb\nc' >unended
awk 'BEGIN { for (i = 0; i < 20011; i++) { printf "%s\n", substr("a line of some length", 1, i % 22) } printf "end" }' >long
newlines="0 1 2 20011"
lines="0 1 3 20012"
newlines_twice="0 2 4 40022"

# COMMAND… -- SOURCE…: compiles each once, however often it is asked to, and sets objects.
compile() {
    command=
    objects=
    while [ "$1" != -- ]; do
        command="$command $1"
        shift
    done
    shift
    for source; do
        object=$(cksum <"$source" | tr ' ' -).o
        # shellcheck disable=SC2086 # one word a word
        [ -e "$object" ] || $command -c -o "$object" "$source" || return
        objects="$objects $object"
    done
}

# Each has the snippet, then its scan if it takes one; its count of every file is printed in one line.
# A snippet that reads a folder gets four, under the names of the files; one that reads a list gets
# each file twice; one that reads places gets all blocks of 4096 bytes but the last, from back to front.
c() {
    function=$(sed -n 's/^int64_t \([a-z]*\)(const char \*\(path\|folder\).*/\1/p' "$1")
    count=${2:+, count}
    offsets=
    [ "$(reads "$1")" != places ] || offsets=', const uint64_t *offsets, size_t places'
    {
        echo '#include <inttypes.h>'
        echo '#include <stdio.h>'
        echo '#include <stdlib.h>'
        echo '#include <sys/stat.h>'
        echo "int64_t $function(const char *path$offsets${2:+, uint64_t (*count)(const unsigned char *, size_t)});"
        echo 'uint64_t count(const unsigned char *bytes, size_t length);'
        echo 'int main(int number, char **files) {'
        echo '    for (int i = 1; i < number; i++) {'
        if [ -n "$offsets" ]; then
            echo '        struct stat about;'
            echo '        stat(files[i], &about);'
            echo '        size_t places = (size_t)about.st_size / 4096 - 1;'
            echo '        uint64_t *offsets = calloc(places + 1, sizeof *offsets);'
            echo '        for (size_t n = 0; n < places; n++) offsets[n] = (places - 1 - n) * 4096;'
            count=", offsets, places$count"
        fi
        echo "        printf(\"%\" PRId64 \" \", $function(files[i]$count));"
        echo '    }'
        echo '}'
    } >main.c
    compile cc -std=gnu11 -O1 -pthread -Wall -Wextra -Werror -- main.c "$@" &&
        cc -pthread -o program $objects && ./program empty one unended long
}

cpp() {
    function=$(sed -n 's/^std::uint64_t \([a-z]*\)(.*/\1/p' "$1")
    arguments=$(sed -n "s/^std::uint64_t $function(\(.*\))$/\1/p" "$1")
    library=
    ! grep -q '^// needs: the library Boost.Iostreams' "$1" || library=-lboost_iostreams
    {
        printf '#include <%s>\n' cstdint filesystem iostream string string_view
        echo "std::uint64_t $function($arguments);"
        echo 'std::uint64_t count(std::string_view bytes);'
        if [ -z "$arguments" ]; then
            echo "int main() { std::cout << $function() << ' '; }"
        else
            echo 'int main(int, char **files) {'
            echo "    while (*++files) std::cout << $function(*files${2:+, count}) << ' ';"
            echo '}'
        fi
    } >main.cpp
    # shellcheck disable=SC2086 # no word without a library
    compile c++ -std=c++17 -O1 -Wall -Wextra -Werror -- main.cpp "$@" && c++ -o program $objects $library || return
    if [ -n "$arguments" ]; then
        ./program empty one unended long
    else
        for file in empty one unended long; do ./program <$file; done
    fi
}

# A package of each snippet with each scan, so that all are compiled at once.
prepare_go() {
    package=module/$(pair "$@")
    mkdir -p "$package"
    cp "$@" "$package"
    function=$(sed -n 's/^func \([a-z]*\)(\(path\|folder\).*/\1/p' "$1")
    argument=$(sed -n 's/^func [a-z]*(\(path\|paths\|folder\) .*, \([a-z]*\) .*/, \2/p' "$1")
    case $(reads "$1") in
    list) target='[]string{path, path}' ;;
    places) target='path, offsets(path)' ;;
    *) target=path ;;
    esac
    cat >"$package/main.go" <<GO
package main

import "os"

func offsets(path string) (all []int64) {
	about, err := os.Stat(path)
	if err != nil {
		panic(err)
	}
	for offset := about.Size() - 2*4096; offset >= 0; offset -= 4096 {
		all = append(all, offset)
	}
	return all
}

func main() {
	for _, path := range os.Args[1:] {
		count, err := $function($target$argument)
		if err != nil {
			panic(err)
		}
		print(count, " ")
	}
}
GO
}

compile_go() {
    gofmt -d module
    printf 'module snippet\n\ngo 1.18\n' >module/go.mod
    mkdir programs
    (cd module && GOTOOLCHAIN=local command go vet ./... && GOTOOLCHAIN=local command go build -o ../programs ./...)
}

go() {
    [ -z "$(gofmt -l "module/$(pair "$@")")" ] && "programs/$(pair "$@")" empty one unended long 2>&1
}

python() {
    case $(reads "$1") in
    list) target='[path, path]' ;;
    places) target='path, range(os.path.getsize(path) - 2 * 4096, -1, -4096)' ;;
    *) target=path ;;
    esac
    cat >main.py <<PYTHON
import os
import runpy
import sys

method, *scan = (runpy.run_path(path) for path in sys.argv[1].split())
function = method.get("newlines") or method["lines"]
print(*[function($target, *(found["count"] for found in scan)) for path in sys.argv[2:]])
PYTHON
    "$python" -W error main.py "$*" empty one unended long
}

# A program of JavaScript: main.cjs, because Deno takes other names for modules.
javascript() {
    cat "$@" >main.cjs
    cat >>main.cjs <<'NODE'
(async () => {
  for (const path of process.argv.slice(2)) {
    process.stdout.write(`${await (typeof total === 'function' ? total(path, count) : lines(path))} `);
  }
})();
NODE
}

node() { javascript "$@" && command node main.cjs empty one unended long; }

bun() { javascript "$@" && command bun main.cjs empty one unended long; }

deno() { javascript "$@" && command deno run --quiet --allow-read main.cjs empty one unended long; }

# Each snippet in a package of its own with a main class, so that all are compiled at once.
prepare_java() {
    class=$(sed -n 's/^final class \([A-Za-z]*\).*/\1/p' "$1")
    function=$(sed -n 's/^    static long \([a-z]*\)(Path .*/\1/p' "$1")
    offsets=
    [ "$(reads "$1")" != places ] || offsets=', offsets(path)'
    package=$(package_of "$1")
    mkdir "$package"
    { echo "package $package;" && cat "$1"; } >"$package/$class.java"
    cat >"$package/Main.java" <<JAVA
package $package;
import java.nio.file.Path;
final class Main {
    static long[] offsets(Path path) throws java.io.IOException {
        long blocks = java.nio.file.Files.size(path) / 4096 - 1;
        return java.util.stream.LongStream.range(0, blocks).map(number -> (blocks - 1 - number) * 4096).toArray();
    }
    public static void main(String[] files) throws Exception {
        for (String file : files) {
            Path path = Path.of(file);
            System.out.print($class.$function(path$offsets) + " ");
        }
    }
}
JAVA
}

package_of() { basename "$1" .java | tr -c 'A-Za-z\n' _; }

compile_java() { javac -encoding UTF-8 -Xlint:all -Werror -d . ./*/*.java; }

java() { command java -XX:TieredStopAtLevel=1 -cp . "$(package_of "$1").Main" empty one unended long; }

swift() {
    argument='in: URL(fileURLWithPath: path)'
    ! grep -q 'inFileAt path' "$1" || argument='inFileAt: path'
    cat >main.swift <<SWIFT
import Foundation
for path in CommandLine.arguments.dropFirst() { print(try newlines($argument), terminator: " ") }
SWIFT
    "$here/swift/swiftc.sh" "$folder/program" -module-name snippet "$folder/main.swift" "$1" && ./program empty one unended long
}

# A snippet that reads a URL is a whole program: it prints the newlines of what its argument names.
is_program() {
    case $language in
    go) grep -q '^func main()' "$1" ;;
    python) grep -q 'sys\.argv' "$1" ;;
    node) grep -q 'process\.argv' "$1" ;;
    *) false ;;
    esac
}

run_program() {
    case $language in
    go) GOTOOLCHAIN=local command go run "$1" "$2" 2>&1 ;;
    python) "$python" -W error "$1" "$2" ;;
    node) NODE_EXTRA_CA_CERTS=$cacert command node "$1" "$2" ;;
    esac
}

# A server of this folder, until this script ends: its URLs are in http, https and cacert. Fails if it cannot be had.
serve() {
    mkfifo until_closed
    : >served
    "$here/../tests/servers/nginx.sh" "$folder" <until_closed >served &
    exec 8>until_closed
    until grep -q '^ready' served; do
        kill -0 $! 2>/dev/null || return 1
        sleep 0.05
    done
    http=$(sed -n 's/^http=//p' served)
    https=$(sed -n 's/^https=//p' served)
    cacert=$(sed -n 's/^cacert=//p' served)
}

check_program() {
    if [ -z "${served-}" ]; then
        served=no
        ! serve || served=yes
    fi
    if [ $served = no ]; then
        echo "SKIPPED: $1: no server" >&2
        return
    fi
    url=$http
    # HTTP/2 is spoken with encryption.
    ! grep -q http2 "$1" || url=$https
    said=$(for file in empty one unended long; do run_program "$1" "$url/$file"; done | tr '\n' ' ' | sed 's/ *$//')
    compare "$1" "$newlines"
}

# The format that a snippet decodes; nothing if it reads plain files.
decodes() {
    case ${1##*/} in
    gzip.* | createGunzip.* | rapidgzip.*) echo gzip ;;
    lz4.*) echo lz4 ;;
    bz2.* | bzip2.*) echo bzip2 ;;
    lzma.*) echo xz ;;
    zstd.* | createZstdDecompress.*) echo zstd ;;
    createBrotliDecompress.*) echo brotli ;;
    esac
}

# What a snippet reads, if it is not a single file.
reads() {
    case ${1##*/} in
    nftw.* | fts.* | recursive_directory_iterator.* | walkdir.* | walkdir-goroutines.*) echo folder ;;
    os.walk.* | os.scandir.* | pathlib.rglob.* | FileManager.enumerator.*) echo folder ;;
    readdir.* | readdir-concurrent.* | readdirSync.* | Bun.Glob.*) echo folder ;;
    Files.walk.* | Files.walk-parallel.* | Files.walkFileTree.*) echo folder ;;
    files.* | ThreadPoolExecutor.map.*) echo list ;;
    places-*) echo places ;;
    esac
}

# Makes a folder of each file: it has the file, another one without a newline, and what is not read.
make_folders() {
    for file in empty one unended long; do
        mv $file $file.plain
        mkdir -p $file/nested
        cp $file.plain $file/nested/copy
        printf x >$file/other
        ln -s "$PWD/long.plain" $file/link-to-a-file
        ln -s .. $file/nested/loop
        mkfifo $file/pipe
    done
}

remove_folders() {
    for file in empty one unended long; do
        rm -r $file
        mv $file.plain $file
    done
}

# Fills up each file to whole blocks, and appends one of newlines, which is not read.
make_blocks() {
    for file in empty one unended long; do
        mv $file $file.plain
        missing=$(((4096 - $(wc -c <$file.plain) % 4096) % 4096))
        { cat $file.plain; head -c $missing /dev/zero; head -c 4096 /dev/zero | tr '\0' '\n'; } >$file
    done
}

remove_blocks() { for file in empty one unended long; do mv $file.plain $file; done; }

check() {
    case $(reads "$1") in
    folder)
        make_folders
        check_plain "$@"
        remove_folders
        return ;;
    places)
        make_blocks
        check_plain "$@"
        remove_blocks
        return ;;
    esac
    format=$(decodes "$1")
    if [ -n "$format" ] && ! command -v "$format" >/dev/null; then
        echo "SKIPPED: $1: no program here writes $format" >&2
        return
    fi
    [ -z "$format" ] || for file in empty one unended long; do
        mv $file $file.plain
        "$format" -c <$file.plain >$file
    done
    check_plain "$@"
    [ -z "$format" ] || for file in empty one unended long; do mv $file.plain $file; done
}

check_plain() {
    expected=$newlines
    ! grep -q 'Counts lines\|// lines counts' "$@" || expected=$lines
    [ "$(reads "$1")" != list ] || expected=$newlines_twice
    said=$($language "$@" 2>&1 | sed 's/ *$//')
    compare "$*" "$expected"
}

# WHAT EXPECTED: what was said is what was expected.
compare() {
    if [ "$said" = "$2" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\nexpected: %s\n%s\n' "$1" "$2" "$said" >&2
    fi
}

# The scans that go with a snippet: those whose function it takes as an argument.
scans() {
    argument=$(sed -n 's/.*\(path\|folder\)[]a-z []*, .*\(count\|visit\)[ ),].*/\2/p' "$1" | head -n 1)
    case $language in c | cpp | go | python | node | bun | deno) [ -z "$argument" ] || grep -lE "\<$argument\(" "$(dirname "$1")"/scan/* ;; esac
}

has_boost() {
    printf '#include <boost/iostreams/device/mapped_file.hpp>\nint main() {}\n' |
        c++ -x c++ -o program - -x none -lboost_iostreams 2>/dev/null
}

# Why this machine cannot run a snippet; nothing if it can.
lack() {
    if grep -q '^# needs: NumPy' "$1" && ! "$python" -c 'import numpy' 2>/dev/null; then
        echo "no NumPy"
    elif grep -q '^// needs: Go 1.24' "$1" && ! GOTOOLCHAIN=local command go list -f '{{context.ReleaseTags}}' unsafe |
        grep -qw 'go1\.24'; then
        echo "no Go 1.24 or later"
    elif grep -q '^# needs: Python 3.14' "$1" && ! "$python" -c 'import compression.zstd' 2>/dev/null; then
        echo "no Python 3.14 or later"
    elif grep -q '^// needs: Node.js 22.15' "$1" && ! command node -e 'require("zlib").createZstdDecompress()' 2>/dev/null; then
        echo "no Node.js 22.15 or later"
    elif grep -q '^// needs: Node.js 18.17' "$1" && ! command node -e '
        const [major, minor] = process.versions.node.split(".");
        process.exit(+(major < 18 || (major == 18 && minor < 17)))' 2>/dev/null; then
        echo "no Node.js 18.17 or later"
    elif grep -q '^// needs: Java 22' "$1" && ! javac --release 22 -version >/dev/null 2>&1; then
        echo "no JDK 22 or later"
    elif grep -q '^// needs: the library Boost.Iostreams' "$1" && ! has_boost; then
        echo "no Boost.Iostreams"
    fi
}

# The name of a snippet with its scan.
pair() { echo "${1##*/}${2:+-${2##*/}}"; }

# COMMAND: calls it with each snippet and each scan that it takes.
each() {
    for snippet in "$here/$contender"/snippets/*.*; do
        [ -z "$(lack "$snippet")" ] && ! is_program "$snippet" || continue
        with=$(scans "$snippet")
        [ -n "$with" ] || "$1" "$snippet"
        for scan in $with; do "$1" "$snippet" "$scan"; done
    done
}

for snippet in "$here/$contender"/snippets/*.*; do
    reason=$(lack "$snippet")
    if [ -n "$reason" ]; then
        echo "SKIPPED: $snippet: $reason" >&2
    elif is_program "$snippet"; then
        check_program "$snippet"
    fi
done
case $language in
go | java)
    each prepare_$language
    compile_$language
    ;;
esac
each check
echo "$passed snippets passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
