import gzip

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(path):
    """Counts newlines of what comes out of a gzip, read by read."""
    with gzip.open(path, "rb") as file:
        count = 0
        while chunk := file.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        return count
