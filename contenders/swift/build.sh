#!/bin/sh
# Builds the Swift contender: contenders/swift/build/readlab-swift. The compiler's version and the flags become part
# of the program, for its receipt. Exit: 0 built; 3 no compiler; else the compiler's exit code.
set -eu

here=$(cd "$(dirname "$0")" && pwd -P)
compiler=$("$here/swiftc.sh") || exit $?
flags=$(sed -n 's/^flags="\(.*\)"$/\1/p' "$here/swiftc.sh")
mkdir -p "$here/build"
cat >"$here/build/Build.swift" <<END
// Written by build.sh: the compiler and flags of this program.
enum Build {
    static let compiler = "$compiler"
    static let flags = "$flags"
}
END
"$here/swiftc.sh" "$here/build/readlab-swift" -module-name readlab_swift "$here"/sources/*.swift "$here/build/Build.swift"
