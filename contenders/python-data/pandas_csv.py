"""The method of pandas: every line is a row of one column, because no line has the separator. One
that has it is a failure.
"""

import csv

import pandas

UNIT_SEPARATOR = "\x1f"


def by_read_csv(request):
    with open(request.path, "rb") as file:
        frame = pandas.read_csv(file, sep=UNIT_SEPARATOR, header=None, names=["line"], index_col=False, dtype=str,
                                na_filter=False, skip_blank_lines=False, quoting=csv.QUOTE_NONE, lineterminator="\n",
                                encoding_errors="replace")
    return {"lines": len(frame)}
