"""The Python contender of readlab: reads files with Python's standard library, and with NumPy if it is; and URLs.

This file parses the command line and starts one session (PROTOCOL.md); it does not read.
"""

import sys

import session
import say
from methods import METHODS
from request import Refusal, Request

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
    if len(words) >= 5 and words[0] == "read":
        say.hello()
        return read(words[1:])
    print(USAGE, file=sys.stderr)
    return EXIT_USAGE


def read(words):
    try:
        request = Request.parse(words)
        if request.method.unavailable:
            say.unavailable(request.method.unavailable)
        else:
            session.serve(request, sys.stdin)
        return 0
    except Refusal as refusal:
        say.failed(str(refusal))
        return EXIT_FAILED


if __name__ == "__main__":
    sys.exit(converse(sys.argv[1:]))
