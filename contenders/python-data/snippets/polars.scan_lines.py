# needs: Polars
import polars


def lines(path):
    """Counts lines; a file that begins like gzip, zlib or zstd is decoded first."""
    return polars.scan_lines(path, glob=False).select(polars.len()).collect().item()
