"""The bytes of a file that are read: all, if nothing else was requested."""

import sys


class Part:
    def __init__(self):
        self.start = 0
        self.length = sys.maxsize

    def seek_in(self, file):
        """Puts the position of an open file where the part begins, and returns how many bytes it may have."""
        if self.start:
            file.seek(self.start)
        return self.length

    def within(self, size):
        """Where it begins in a file of this size, and how long it is there."""
        start = min(self.start, size)
        return start, min(self.length, size - start)
