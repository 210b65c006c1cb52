#!/bin/sh
# Runs `dotnet WORD...` with the SDK on the PATH, which must be .NET 8 or later. Without a word it only checks that. The
# SDK keeps its own files in the folder build, not in the user's home.
#
# Exit: 3 there is no such SDK; else the exit code of dotnet.
set -eu

cd "$(dirname "$0")"
build=$PWD/build
# NuGet prefers XDG_DATA_HOME to the home of the SDK.
export DOTNET_CLI_HOME="$build/home" NUGET_PACKAGES="$build/home/packages" XDG_DATA_HOME="$build/home/data"
export DOTNET_NOLOGO=true DOTNET_CLI_TELEMETRY_OPTOUT=true DOTNET_GENERATE_ASPNET_CERTIFICATE=false
export DOTNET_CLI_WORKLOAD_UPDATE_NOTIFY_DISABLE=true DOTNET_CLI_USE_MSBUILD_SERVER=false
# The library with the rules of languages is often missing. The sockets for diagnostics would remain after a kill.
export DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 DOTNET_EnableDiagnostics=0

missing() {
    echo "$1" >&2
    exit 3
}

command -v dotnet >/dev/null 2>&1 || missing "no dotnet on the PATH"
version=$(dotnet --version 2>/dev/null) || missing "found no SDK beside dotnet"
case ${version%%.*} in
'' | *[!0-9]* | [0-7]) missing "found the SDK $version, not 8 or later" ;;
esac
[ $# -gt 0 ] || exit 0
mkdir -p "$build/tmp"
export TMPDIR="$build/tmp"
exec dotnet "$@"
