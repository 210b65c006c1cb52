# needs: Python 3.14
from compression import zstd

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(path):
    """Counts newlines of what comes out of a zstd, read by read."""
    with zstd.open(path, "rb") as file:
        count = 0
        while chunk := file.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        return count
