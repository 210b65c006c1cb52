"""All methods, in the order of the list. A method names the class that reads, and its module is only
imported by a session that needs it: each library takes a part of a second to import.
"""

from collections import namedtuple
from importlib import import_module

# A setting of a method; the name carries its unit.
Param = namedtuple("Param", "name default min max")


class Method(namedtuple("Method", "name about reads scans params module class_name")):
    """One way of reading. Its class makes a client of a request, reads the target with it as often
    as it is called, and closes it."""

    def client_class(self):
        return getattr(import_module(self.module), self.class_name)


BYTES_MAX = 1 << 30

UNORDERED = {"newlines": ["count"], "sum": ["sum"], "discard": ["-"]}
IN_ORDER = {"newlines": ["count"], "lines": ["split"], "sum": ["sum"], "discard": ["-"]}

BUFFER = Param("buffer_bytes", 64 << 10, 1, BYTES_MAX)
# 0 takes the pieces as they arrive, the library's default.
PIECES = Param("buffer_bytes", 0, 0, BYTES_MAX)
# The default of s3fs.
BLOCK = Param("block_bytes", 50 << 20, 64 << 10, BYTES_MAX)
PART = Param("part_bytes", 8 << 20, 64 << 10, BYTES_MAX)
CONCURRENCY = Param("concurrency", 8, 1, 256)
HTTP = Param("http", 1, 1, 2)
# The documentation of boto3 and s3fs advises one client for many requests.
KEPT = Param("kept", 1, 0, 1)
NOT_KEPT = Param("kept", 0, 0, 1)

METHODS = [
    Method("boto3.get_object", "boto3: get_object, whose StreamingBody is read piece by piece", "object",
           IN_ORDER, [BUFFER, KEPT], "boto3_whole", "GetObject"),
    Method("boto3.download_fileobj", "boto3: download_fileobj, whose threads request ranges; the bytes are"
           " visited as they are written, in order", "object",
           IN_ORDER, [PART, CONCURRENCY, KEPT], "boto3_transfer", "DownloadFileobj"),
    Method("boto3.ranged", "boto3: get_object for each range, in threads that each visit their own part", "object",
           UNORDERED, [PART, CONCURRENCY, KEPT], "boto3_ranged", "RangedGetObject"),
    Method("s3fs", "s3fs: read of an open file, which requests a block ahead (cache_type readahead)", "object",
           IN_ORDER, [BLOCK, BUFFER, KEPT], "s3fs_file", "S3File"),
    Method("requests", "requests: a streamed response, by iter_content", "url",
           IN_ORDER, [BUFFER, NOT_KEPT], "requests_stream", "RequestsStream"),
    Method("httpx", "httpx: a streamed response, by iter_raw", "url",
           IN_ORDER, [PIECES, HTTP, NOT_KEPT], "httpx_stream", "HttpxStream"),
    Method("httpx-ranged", "httpx: ranges by an AsyncClient, as many at once as concurrency says", "url",
           UNORDERED, [PART, CONCURRENCY, HTTP, NOT_KEPT], "httpx_ranged", "HttpxRanged"),
]
