# needs: the package s3fs
import sys

import s3fs

BLOCK_BYTES = 52428800  # = block_bytes
BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(url):
    """Counts the newlines of s3://BUCKET/KEY, read by read of a file that requests blocks."""
    with s3fs.S3FileSystem().open(url, "rb", block_size=BLOCK_BYTES) as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(BUFFER_BYTES), b""))


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
