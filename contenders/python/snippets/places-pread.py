# usual: yes
import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor

BLOCK_BYTES = 4096
THREADS = 1  # = threads


def newlines(path, offsets):
    """Counts newlines of the blocks at these offsets, in any order: threads take the next place
    until none is left."""
    places = deque(offsets)
    file = os.open(path, os.O_RDONLY)
    try:
        with ThreadPoolExecutor(THREADS) as pool:
            return sum(pool.map(lambda _: newlines_of(file, places), range(THREADS)))
    finally:
        os.close(file)


def newlines_of(file, places):
    count = 0
    while True:
        try:
            offset = places.popleft()
        except IndexError:
            return count
        block = os.pread(file, BLOCK_BYTES, offset)
        if len(block) < BLOCK_BYTES:
            raise EOFError(f"the file ends within the block at byte {offset}")
        count += block.count(b"\n")
