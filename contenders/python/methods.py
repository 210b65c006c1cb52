"""All methods, in the order of the list."""

from collections import namedtuple

import chunks
import compressed
import files
import lines
import places
import urls
import whole

# A setting of a method; the name carries its unit.
Param = namedtuple("Param", "name default min max")

# One way of reading. Its read opens, reads the bytes and closes: that is the window, and no byte of the file is kept.
# For each work its scans are the ways of visiting the bytes, best first.
# Some read a part of a file, too. Some read a URL instead, and may prepare a client that all readings use. Some read a
# list of files, a folder, or blocks at places of a file.
# Some decode a compressed file.
Method = namedtuple("Method", "name about scans params read unavailable parts reads prepare decodes",
                    defaults=[None, False, "file", None, None])

BYTES_MAX = 1 << 30

OF_LINES = {"newlines": ["-"], "lines": ["-"]}
OF_TEXT = {"newlines": ["count"], "lines": ["split"]}
OF_BYTES = {"newlines": ["count"], "sum": ["sum"], "discard": ["-"]}
OF_BODY = {"newlines": ["count"], "lines": ["split"], "sum": ["sum"], "discard": ["-"]}
OF_DECODED = {"newlines": ["count", "lines"], "lines": ["lines"], "sum": ["sum"], "discard": ["-"]}
OF_MAPPING = {"newlines": ["slice", "find"], "lines": ["readline"], "sum": ["sum"], "discard": ["-"]}
OF_ARRAY = {"newlines": ["count_nonzero"], "sum": ["sum"], "discard": ["-"]}

# The argument `buffering` of open; 0 leaves the size to Python. Text files have none, because they read pieces of a fixed
# size past that buffer.
BUFFERING = Param("buffer_bytes", 0, 0, BYTES_MAX)
OWN_BUFFER = Param("buffer_bytes", 64 << 10, 1, BYTES_MAX)
KEPT = Param("kept", 0, 0, 1)
WORKERS = Param("workers", files.WORKERS, 1, 1024)
THREADS = Param("threads", 1, 1, 1024)

METHODS = [
    Method("lines", "iteration over a text file: a str for every line, decoded from UTF-8", OF_LINES, [],
           lines.of_text),
    Method("binary-lines", "iteration over a binary file: bytes for every line", OF_LINES, [BUFFERING],
           lines.of_binary),
    Method("readlines", "readlines of a text file: a list of all lines, held at once", OF_LINES, [],
           lines.of_readlines),
    Method("fileinput", "iteration over fileinput.input: the lines of the files that a command line names", OF_LINES,
           [], lines.of_fileinput),
    Method("read_text", "pathlib's read_text: the whole file in one str, decoded from UTF-8", OF_TEXT, [],
           lines.of_read_text),
    Method("read", "read of an unbuffered file: new bytes every time", OF_BYTES, [OWN_BUFFER], chunks.by_read,
           parts=True),
    Method("readinto", "readinto of an unbuffered file: one bytearray, over and over", OF_BYTES, [OWN_BUFFER],
           chunks.by_readinto, parts=True),
    Method("os.read", "os.read in a loop, without a file object: new bytes every time", OF_BYTES, [OWN_BUFFER],
           chunks.by_os_read),
    Method("read_bytes", "read of a binary file to its end: the whole of it in one bytes", OF_BYTES, [],
           whole.by_read),
    Method("mmap", "the whole file mapped by mmap; slice copies it out piece by piece", OF_MAPPING, [], whole.by_mmap,
           parts=True),
    Method("numpy.fromfile", "numpy.fromfile: the whole file in one array of uint8", OF_ARRAY, [], whole.by_fromfile,
           whole.NO_NUMPY, parts=True),
    Method("gzip.open", "read of, or iteration over, what gzip.open returns", OF_DECODED, [OWN_BUFFER],
           compressed.by_gzip, decodes="gzip"),
    Method("bz2.open", "read of, or iteration over, what bz2.open returns", OF_DECODED, [OWN_BUFFER],
           compressed.by_bz2, decodes="bzip2"),
    Method("lzma.open", "read of, or iteration over, what lzma.open returns", OF_DECODED, [OWN_BUFFER],
           compressed.by_lzma, decodes="xz"),
    Method("zstd.open", "read of, or iteration over, what open of compression.zstd returns", OF_DECODED, [OWN_BUFFER],
           compressed.by_zstd, compressed.NO_ZSTD, decodes="zstd"),
    Method("urllib", "urllib.request: one connection for each reading, which it always closes", OF_BODY, [OWN_BUFFER],
           urls.by_urllib, reads="url"),
    Method("http.client", "http.client: GET over a connection that is closed or, with kept=1, stays", OF_BODY,
           [OWN_BUFFER, KEPT], urls.by_http_client, reads="url", prepare=urls.prepare_http_client),
    Method("ThreadPoolExecutor.map", "map of a ThreadPoolExecutor over a list: its threads read the whole of each file",
           OF_BYTES, [WORKERS], files.by_pool, reads="list"),
    Method("os.walk", "os.walk, and read to its end of each regular file, one after the other", OF_BYTES, [],
           files.by_walk, reads="folder"),
    Method("os.scandir", "os.scandir of each folder, and read to its end of each regular file, one after the other",
           OF_BYTES, [], files.by_scandir, reads="folder"),
    Method("pathlib.rglob", "pathlib's rglob, and read to its end of each regular file; it leaves out folders that "
           "cannot be read", OF_BYTES, [], files.by_rglob, reads="folder"),
    Method("places-pread", "os.pread of the block at each place, by threads that take places in turn: new bytes every "
           "time", OF_BYTES, [THREADS], places.by_pread, reads="places"),
]
