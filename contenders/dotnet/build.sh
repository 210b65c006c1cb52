#!/bin/sh
# Builds the contender dotnet, or another project: build.sh [PROJECT [OPTION...]]. The result is
# build/bin/NAME/release/NAME.dll, which `dotnet` starts. Nothing is downloaded and no server remains.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- reader.csproj
exec "$here/dotnet.sh" build "$@" --configuration Release --disable-build-servers --nologo --verbosity quiet
