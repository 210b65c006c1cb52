"""The methods that have the whole file at once: read, mapped, or as an array of NumPy."""

import mmap
import os
import sys

from tally import Tally

try:
    import numpy
    NO_NUMPY = None
except ImportError as cause:
    NO_NUMPY = f"NumPy is not there: {cause}"

SLICE_BYTES = 1 << 20


def by_read(request):
    tally = Tally(request)
    with open(request.path, "rb") as file:
        tally.take(file.read())
    return tally.answer()


def by_mmap(request):
    """Nothing cannot be mapped, and has no bytes to visit. In fstat, a block device has no size."""
    with open(request.path, "rb") as file:
        size = os.lseek(file.fileno(), 0, os.SEEK_END)
        start, length = request.part.within(size)
        if length == 0:
            return Tally(request).answer()
        with mmap.mmap(file.fileno(), length, access=mmap.ACCESS_READ, offset=start) as mapped:
            return VISITS[request.scan](request, mapped)


def visit_slices(request, mapped):
    tally = Tally(request)
    for start in range(0, len(mapped), SLICE_BYTES):
        tally.take(mapped[start:start + SLICE_BYTES])
    return tally.answer()


def visit_by_find(request, mapped):
    newlines = 0
    at = mapped.find(b"\n")
    while at >= 0:
        newlines += 1
        at = mapped.find(b"\n", at + 1)
    return {"bytes": len(mapped), "newlines": newlines}


def visit_lines(request, mapped):
    lines = 0
    for _ in iter(mapped.readline, b""):
        lines += 1
    return {"bytes": len(mapped), "lines": lines}


def touch(request, mapped):
    """One byte of every page, so that each is read."""
    mapped[::mmap.PAGESIZE]
    return {"bytes": len(mapped)}


VISITS = {"slice": visit_slices, "sum": visit_slices, "find": visit_by_find, "readline": visit_lines, "-": touch}


def by_fromfile(request):
    with open(request.path, "rb") as file:
        most = request.part.seek_in(file)
        array = numpy.fromfile(file, dtype=numpy.uint8, count=-1 if most == sys.maxsize else most)
    found = {"bytes": array.size}
    if request.work == "newlines":
        found["newlines"] = int(numpy.count_nonzero(array == ord("\n")))
    elif request.work == "sum":
        found["sum"] = int(array.sum(dtype=numpy.uint8))
    return found
