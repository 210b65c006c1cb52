"""The consumer of all methods that have bytes: NumPy counts the newlines of an array, or adds its
bytes.
"""

import mmap

import numpy


class Tally:
    def __init__(self, request):
        self.work = request.work
        self.bytes = 0
        self.found = 0

    def take(self, array):
        """Visits an array of uint8. A sum of uint8 wraps."""
        self.bytes += array.size
        if self.work == "newlines":
            self.found += int(numpy.count_nonzero(array == ord("\n")))
        elif self.work == "sum":
            self.found += int(array.sum(dtype=numpy.uint8))

    def drain(self, file, size):
        """Visits everything that a file object of Python has, read by read."""
        while chunk := file.read(size):
            self.take(numpy.frombuffer(chunk, dtype=numpy.uint8))

    def take_mapped(self, array):
        """The same for a mapping, where nothing is read before it is visited."""
        if self.work == "discard":
            # One byte of every page, so that each is read.
            array[::mmap.PAGESIZE].copy()
        self.take(array)

    def answer(self):
        if self.work == "discard":
            return {"bytes": self.bytes}
        return {"bytes": self.bytes, self.work: self.found & 0xFF if self.work == "sum" else self.found}
