# needs: NumPy; PyArrow
import numpy
import pyarrow


def newlines(path):
    """Counts newlines of the whole file, which is mapped: its buffer has no copy."""
    with pyarrow.memory_map(path) as file:
        array = numpy.frombuffer(file.read_buffer(), dtype=numpy.uint8)
        return int(numpy.count_nonzero(array == ord("\n")))
