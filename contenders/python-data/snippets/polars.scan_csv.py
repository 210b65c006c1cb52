# needs: Polars
import polars


def lines(path):
    """Counts lines as rows; what begins like gzip, zlib or zstd is decoded first."""
    one_column = {"separator": "\x1f", "has_header": False, "quote_char": None, "truncate_ragged_lines": True,
                  "schema": {"line": polars.String}, "encoding": "utf8-lossy", "glob": False}
    return polars.scan_csv(path, **one_column).select(polars.len()).collect().item()
