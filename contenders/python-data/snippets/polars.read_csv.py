# needs: Polars
import polars


def lines(path):
    """Counts lines as rows of one column; what begins like gzip, zlib or zstd is decoded first."""
    one_column = {"separator": "\x1f", "has_header": False, "quote_char": None, "truncate_ragged_lines": True,
                  "schema": {"line": polars.String}, "encoding": "utf8-lossy", "glob": False}
    return polars.read_csv(path, **one_column).height
