BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(path):
    """Counts newlines, read by read; each gives new bytes."""
    with open(path, "rb", buffering=0) as file:
        count = 0
        while chunk := file.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        return count
