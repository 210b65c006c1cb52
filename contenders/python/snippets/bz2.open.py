import bz2

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(path):
    """Counts newlines of what comes out of a bzip2, read by read."""
    with bz2.open(path, "rb") as file:
        count = 0
        while chunk := file.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        return count
