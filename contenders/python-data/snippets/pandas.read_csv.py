# needs: pandas
import csv

import pandas


def lines(path):
    """Counts lines as rows of one column, as long as no line has the separator."""
    with open(path, "rb") as file:
        frame = pandas.read_csv(file, sep="\x1f", header=None, names=["line"], index_col=False, dtype=str,
                                na_filter=False, skip_blank_lines=False, quoting=csv.QUOTE_NONE,
                                lineterminator="\n", encoding_errors="replace")
    return len(frame)
