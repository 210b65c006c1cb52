def count(mapped):
    """Counts lines, each new bytes; the last need not end."""
    return sum(1 for _ in iter(mapped.readline, b""))
