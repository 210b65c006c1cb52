"""The methods that decode compressed files by the modules of the standard library."""

import bz2
import gzip
import lzma
import zlib

from tally import Tally

try:
    from compression import zstd
    NO_ZSTD = None
except ImportError:
    NO_ZSTD = "compression.zstd came with Python 3.14"

# What these modules raise besides OSError for a file that is not what it should be.
FAILURES = (EOFError, lzma.LZMAError, zlib.error) + (() if NO_ZSTD else (zstd.ZstdError,))


def by_gzip(request):
    with gzip.open(request.path, "rb") as file:
        return visit(request, file)


def by_bz2(request):
    with bz2.open(request.path, "rb") as file:
        return visit(request, file)


def by_lzma(request):
    with lzma.open(request.path, "rb") as file:
        return ended(file, visit(request, file))


def by_zstd(request):
    with zstd.open(request.path, "rb") as file:
        return ended(file, visit(request, file))


def visit(request, file):
    if request.scan == "lines":
        lines = 0
        for _ in file:
            lines += 1
        return {"lines": lines}
    tally = Tally(request)
    while chunk := file.read(request.params["buffer_bytes"]):
        tally.take(chunk)
    return tally.answer()


def ended(file, answer):
    """The reader takes bytes after the last stream that begin no other for the end, without an error. Only its last
    decompressor shows it: it has not come to an end."""
    if not file._buffer.raw._decompressor.eof:
        raise ValueError("what follows the last stream is no stream")
    return answer
