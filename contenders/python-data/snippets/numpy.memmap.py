# needs: NumPy
import os

import numpy


def newlines(path):
    """Counts newlines of the whole file as one array, which is mapped; an empty file cannot be."""
    if os.path.getsize(path) == 0:
        return 0
    array = numpy.memmap(path, dtype=numpy.uint8, mode="r")
    return int(numpy.count_nonzero(array == ord("\n")))
