"""The methods of Polars that have a row for every line. It detects the compression of a file by its
first bytes and decodes it, so only what it takes as it is can be read here.
"""

import os
import time
from contextlib import contextmanager

import polars

from refusal import Unavailable

UNIT_SEPARATOR = "\x1f"
# One column that has the whole line: without quotes, and lines with more columns are cut.
ONE_COLUMN = {"separator": UNIT_SEPARATOR, "has_header": False, "quote_char": None, "truncate_ragged_lines": True,
              "schema": {"line": polars.String}, "encoding": "utf8-lossy"}

# How gzip, zlib and zstd begin.
COMPRESSED = (b"\x1f\x8b", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda", b"\x28\xb5\x2f\xfd")
MAGIC_BYTES = 4
UNMAPPING_SECONDS = 0.0001


def by_scan_lines(request):
    with opened(request) as file:
        return {"lines": polars.scan_lines(file).select(polars.len()).collect().item()}


def by_read_lines(request):
    with opened(request) as file:
        return {"lines": polars.read_lines(file).height}


def by_scan_csv(request):
    with opened(request) as file:
        return {"lines": polars.scan_csv(file, **ONE_COLUMN).select(polars.len()).collect().item()}


def by_read_csv(request):
    with opened(request) as file:
        return {"lines": polars.read_csv(file, **ONE_COLUMN).height}


@contextmanager
def opened(request):
    """The file, until it is closed and unmapped: Polars answers first, and unmaps by a thread
    of its own."""
    with open(request.path, "rb", buffering=0) as file:
        if os.pread(file.fileno(), MAGIC_BYTES, 0).startswith(COMPRESSED):
            raise Unavailable("Polars would decode it: it begins like gzip, zlib or zstd")
        yield file
        while is_mapped(file):
            time.sleep(UNMAPPING_SECONDS)


def is_mapped(file):
    path = os.readlink(f"/proc/self/fd/{file.fileno()}".encode()).replace(b"\n", b"\\012")
    with open("/proc/self/maps", "rb") as mappings:
        return path in mappings.read()
