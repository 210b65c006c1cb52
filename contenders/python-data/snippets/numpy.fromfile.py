# needs: NumPy
import numpy


def newlines(path):
    """Counts newlines of the whole file, which lies in memory at once."""
    with open(path, "rb") as file:
        array = numpy.fromfile(file, dtype=numpy.uint8)
    return int(numpy.count_nonzero(array == ord("\n")))
