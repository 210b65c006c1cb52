"""The contender of readlab that reads files with the libraries that Python programs use for data.

This file parses the command line and starts one session (PROTOCOL.md); it does not read.
"""

import sys

import say
import session
from methods import METHODS
from refusal import Refusal, Unavailable
from request import Request

EXIT_FAILED = 1
EXIT_USAGE = 2
USAGE = "usage: reader.py hello | methods | read METHOD SCAN WORK TARGET [name=value ...]"


def converse(words):
    """Runs one whole session and returns the exit code."""
    if words == ["hello"]:
        say.hello()
        return 0
    if words == ["methods"]:
        say.hello()
        for method in METHODS:
            say.method(method)
        return 0
    if words == ["compile"]:
        # Of the build: importing a module compiles it.
        for method in METHODS:
            method.reading()
        return 0
    if len(words) >= 5 and words[0] == "read":
        say.hello()
        return read(words[1:])
    print(USAGE, file=sys.stderr)
    return EXIT_USAGE


def read(words):
    try:
        session.serve(Request.parse(words), sys.stdin)
        return 0
    except Unavailable as lack:
        say.unavailable(str(lack))
        return 0
    except Refusal as refusal:
        say.failed(str(refusal))
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(converse(sys.argv[1:]))
