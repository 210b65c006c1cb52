import lzma

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(path):
    """Counts newlines of what comes out of an xz, read by read."""
    with lzma.open(path, "rb") as file:
        count = 0
        while chunk := file.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        return count
