"""All methods, in the order of the list. A method names the function that reads, and its module is
only imported by a session that needs it: each library takes a part of a second to import.
"""

from collections import namedtuple
from importlib import import_module

# A setting of a method; the name carries its unit.
Param = namedtuple("Param", "name default min max")


class Method(namedtuple("Method", "name about scans params module function decodes", defaults=[None])):
    """One way of reading. Its function opens, reads the bytes and closes: that is the window,
    and no byte of the file is kept. Some decode a compressed file."""

    def reading(self):
        return getattr(import_module(self.module), self.function)


BYTES_MAX = 1 << 30

OF_LINES = {"newlines": ["-"], "lines": ["-"]}
OF_ARRAY = {"newlines": ["count_nonzero"], "sum": ["sum"], "discard": ["-"]}

# 0 reads the whole file at once, the library's default.
BUFFER = Param("buffer_bytes", 0, 0, BYTES_MAX)
# The default of Arrow. A line that is longer than two blocks is a failure.
BLOCK = Param("block_bytes", 1 << 20, 4096, BYTES_MAX)

CHUNK = Param("buffer_bytes", 1 << 20, 1, BYTES_MAX)
# 0 takes all processors.
THREADS = Param("threads", 0, 0, 1024)

METHODS = [
    Method("numpy.fromfile", "numpy.fromfile: the whole file in one array of uint8", OF_ARRAY, [],
           "numpy_arrays", "by_fromfile"),
    Method("numpy.memmap", "numpy.memmap: the whole file mapped as one array of uint8", OF_ARRAY, [],
           "numpy_arrays", "by_memmap"),
    Method("pyarrow.OSFile", "read_buffer of a pyarrow.OSFile: the whole file in one buffer", OF_ARRAY, [BUFFER],
           "arrow_buffers", "by_os_file"),
    Method("pyarrow.memory_map", "read_buffer of a pyarrow.memory_map: the whole file mapped", OF_ARRAY, [],
           "arrow_buffers", "by_memory_map"),
    Method("pyarrow.read_csv", "pyarrow.csv.read_csv: a table of one column, a row for every line", OF_LINES, [BLOCK],
           "arrow_csv", "by_read_csv"),
    Method("pyarrow.open_csv", "pyarrow.csv.open_csv: batches of one column, a row for every line", OF_LINES, [BLOCK],
           "arrow_csv", "by_open_csv"),
    Method("polars.scan_lines", "polars.scan_lines and len: a lazy frame, a row for every line", OF_LINES, [],
           "polars_lines", "by_scan_lines"),
    Method("polars.read_lines", "polars.read_lines: a frame of all lines, held at once", OF_LINES, [],
           "polars_lines", "by_read_lines"),
    Method("polars.scan_csv", "polars.scan_csv and len: rows are counted, and no column is made", OF_LINES, [],
           "polars_lines", "by_scan_csv"),
    Method("polars.read_csv", "polars.read_csv: a frame of one column, a row for every line", OF_LINES, [],
           "polars_lines", "by_read_csv"),
    Method("pandas.read_csv", "pandas.read_csv: a frame of one column, a row for every line", OF_LINES, [],
           "pandas_csv", "by_read_csv"),
    Method("lz4.frame.open", "read of what lz4.frame.open returns: new bytes every time", OF_ARRAY, [CHUNK],
           "lz4_frames", "by_open", "lz4"),
    Method("rapidgzip.open", "read of what rapidgzip.open returns, which decodes with several threads", OF_ARRAY,
           [CHUNK, THREADS], "parallel_gzip", "by_open", "gzip"),
]
