# needs: the library lz4
import lz4.frame

BUFFER_BYTES = 1048576  # = buffer_bytes


def newlines(path):
    """Counts newlines of what comes out of an lz4, read by read."""
    with lz4.frame.open(path, "rb") as file:
        count = 0
        while chunk := file.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        return count
