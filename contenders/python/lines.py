"""The methods that return lines. An unterminated last line counts."""

import fileinput
import os
from pathlib import Path


def of_text(request):
    """Universal newlines, the default: a CR without LF ends a line as well. Malformed UTF-8 is replaced."""
    with open(request.path, encoding="utf-8", errors="replace") as file:
        lines = 0
        for _ in file:
            lines += 1
    return {"lines": lines}


def of_binary(request):
    with open(request.path, "rb", buffering=buffering(request)) as file:
        lines = 0
        for _ in file:
            lines += 1
    return {"lines": lines}


def of_readlines(request):
    with open(request.path, encoding="utf-8", errors="replace") as file:
        lines = file.readlines()
    return {"lines": len(lines)}


def of_fileinput(request):
    """Its words for encodings came with Python 3.10; the hook is older and opens in the same way."""
    with fileinput.input([request.path], openhook=fileinput.hook_encoded("utf-8", "replace")) as file:
        lines = 0
        for _ in file:
            lines += 1
    return {"lines": lines}


def of_read_text(request):
    """By split, because splitlines ends lines at form feeds and other characters as well."""
    text = Path(os.fsdecode(request.path)).read_text(encoding="utf-8", errors="replace")
    if request.work == "newlines":
        return {"newlines": text.count("\n")}
    *ended, last = text.split("\n")
    return {"lines": len(ended) + bool(last)}


def buffering(request):
    """The size for `open`, where 0 would mean no buffer and 1 a size of its own choice."""
    return max(request.params["buffer_bytes"], 2) if request.params["buffer_bytes"] else -1
