# A command as one program, $folder/program, so that arguments with blanks stay whole. Sourced by the
# tests of contenders from outside, with the command as the arguments.
program=$folder/program
{
    echo '#!/bin/sh'
    printf exec
    for word in "$@"; do printf " '%s'" "$(printf %s "$word" | sed "s/'/'\\\\''/g")"; done
    echo ' "$@"'
} >"$program"
chmod +x "$program"
