# Sets `major`, the version of the javac on the PATH. It must be 17 or later for `who`, which is set before. Sourced by
# the scripts that build from this folder.
version=$(javac -version 2>&1)
major=${version#javac }
major=${major%%[!0-9]*}
if [ -z "$major" ] || [ "$major" -lt 17 ]; then
    echo "$who needs JDK 17 or later, found: $version" >&2
    exit 1
fi
