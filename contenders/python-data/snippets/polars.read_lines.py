# needs: Polars
import polars


def lines(path):
    """Counts lines, which are all in memory at once; what begins like gzip, zlib or zstd is
    decoded first."""
    return polars.read_lines(path, glob=False).height
