BUFFER_BYTES = 0  # = buffer_bytes


def lines(path):
    """Counts lines, which are all in memory at once; a buffer of 0 bytes is Python's own choice."""
    with open(path, encoding="utf-8", errors="replace", buffering=BUFFER_BYTES or -1) as file:
        return len(file.readlines())
