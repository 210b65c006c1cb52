"""Blocks at places of a file: the list of them, and the method that reads each with os.pread.

So many reads are in flight as there are threads: os.pread releases the interpreter's lock while the
kernel works. What is done with a block holds it.
"""

import os
import struct
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from tally import PiecesTally

NUMBER_BYTES = 8
BLOCK_BYTES_MAX = 1 << 30

# What each work counts in a block.
COUNTS = {
    "newlines": lambda block: block.count(b"\n"),
    "sum": lambda block: sum(block) & 0xFF,
    "discard": len,
}


class Places:
    """Blocks of one file: their offsets, and a list of their lengths or one length for all."""

    def __init__(self, path, offsets, lengths):
        self.path = path
        self.offsets = offsets
        self.lengths = lengths

    def length(self, number):
        return self.lengths[number] if isinstance(self.lengths, list) else self.lengths


def places_of(path):
    """Reads a list: a path that a zero byte ends, then numbers of 64 bits, lowest byte first.

    The first number is the length of all blocks, and the others are offsets. If the first number is
    0, each offset is followed by the length of its block.
    """
    with open(path, "rb") as file:
        name, _, numbers = file.read().partition(b"\0")
    count, rest = divmod(len(numbers), NUMBER_BYTES)
    lengths, *offsets = struct.unpack(f"<{count}q", numbers) if count and not rest else [-1]
    is_even = len(offsets) % 2 == 0
    if lengths == 0 and is_even:
        offsets, lengths = offsets[::2], offsets[1::2]
    all_lengths = lengths if isinstance(lengths, list) else [lengths]
    if not name or not all(1 <= length <= BLOCK_BYTES_MAX for length in all_lengths):
        raise ValueError("a list of places is not complete, or its blocks are not of 1 byte to 1 GiB")
    return Places(name, offsets, lengths)


def by_pread(request):
    """One thread is that of the session itself. After a failure no more places are read."""
    numbers = deque(range(len(request.places.offsets)))
    threads = min(request.params["threads"], len(numbers))
    found = PiecesTally("blocks")
    file = os.open(request.places.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if threads < 2:
            found.merge(read_in_turn(request, file, numbers))
            return found.answer(request)
        with ThreadPoolExecutor(threads) as pool:
            for part in pool.map(lambda _: read_in_turn(request, file, numbers), range(threads)):
                found.merge(part)
        return found.answer(request)
    finally:
        os.close(file)


def read_in_turn(request, file, numbers):
    """Reads the block at the next place until none is left."""
    places, count = request.places, COUNTS[request.work]
    found = PiecesTally("blocks")
    try:
        for number in taken(numbers):
            length = places.length(number)
            block = read_block(file, places.offsets[number], length)
            found.add(number, length, count(block))
        return found
    finally:
        numbers.clear()


def taken(numbers):
    """Numbers of a deque, which each thread may take at any time."""
    while True:
        try:
            number = numbers.popleft()
        except IndexError:
            return
        yield number


def read_block(file, offset, length):
    """A read may give less than it was asked for; at the end of the file it gives nothing."""
    try:
        block = os.pread(file, length, offset)
        while len(block) < length:
            more = os.pread(file, length - len(block), offset + len(block))
            if not more:
                raise EOFError(f"the file ends within the block at byte {offset}")
            block += more
        return block
    except OSError as failure:
        raise OSError(failure.errno, f"{failure.strerror} at byte {offset}") from failure
