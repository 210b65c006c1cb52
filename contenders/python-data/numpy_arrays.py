"""The methods of NumPy: the whole file as one array, read or mapped."""

import os

import numpy

from tally import Tally


def by_fromfile(request):
    tally = Tally(request)
    with open(request.path, "rb") as file:
        tally.take(numpy.fromfile(file, dtype=numpy.uint8))
    return tally.answer()


def by_memmap(request):
    """Nothing cannot be mapped, and has no bytes to visit. The mapping ends with its last array."""
    tally = Tally(request)
    with open(request.path, "rb") as file:
        if os.lseek(file.fileno(), 0, os.SEEK_END) > 0:
            tally.take_mapped(numpy.memmap(file, dtype=numpy.uint8, mode="r"))
    return tally.answer()
