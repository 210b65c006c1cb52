# usual: yes
BUFFER_BYTES = 0  # = buffer_bytes


def lines(path):
    """Counts lines, each a new str; a buffer of 0 bytes is Python's own choice."""
    with open(path, encoding="utf-8", errors="replace", buffering=BUFFER_BYTES or -1) as file:
        return sum(1 for _ in file)
