SLICE_BYTES = 1 << 20


def count(mapped):
    """Counts newlines in copies, piece by piece: bytes have a count, and mappings have none."""
    starts = range(0, len(mapped), SLICE_BYTES)
    return sum(mapped[start:start + SLICE_BYTES].count(b"\n") for start in starts)
