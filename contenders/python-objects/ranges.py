"""The ranges of an object that are requested apart, and what a server must answer to each."""

import re

from failure import Unexpected

CONTENT_RANGE = re.compile(r"bytes ([0-9]+)-([0-9]+)/([0-9]+)")


class Range:
    """Bytes from first to last, both included; without `last`, to the end."""

    def __init__(self, first, last=None):
        self.first = first
        self.last = last

    @staticmethod
    def of_header(words):
        first, _, last = words.removeprefix("bytes=").partition("-")
        return Range(int(first), int(last) if last else None)

    def header(self):
        return f"bytes={self.first}-{self.last}"

    def check(self, content_range, content_length):
        """Checks the head of the answer, and returns how long the range is and how long the object is."""
        found = CONTENT_RANGE.fullmatch(content_range or "")
        if not found:
            raise Unexpected(f"{self} was answered without a range")
        first, last, size = map(int, found.groups())
        end = size - 1 if self.last is None else min(self.last, size - 1)
        if (first, last) != (self.first, end):
            raise Unexpected(f"{self} was answered with bytes {first} to {last} of {size}")
        length = last - first + 1
        if content_length is not None and int(content_length) != length:
            raise Unexpected(f"{self} was answered with {content_length} bytes")
        return length, size

    def __str__(self):
        return f"a request for the bytes {self.first} to {'the end' if self.last is None else self.last}"


def first_of(part_bytes):
    return Range(0, part_bytes - 1)


def following(part_bytes, size):
    """The ranges after the first, whose answer has the size."""
    return (Range(first, min(first + part_bytes, size) - 1) for first in range(part_bytes, size, part_bytes))
