# needs: the package boto3
import sys

import boto3
from boto3.s3.transfer import TransferConfig

PART_BYTES = 8388608  # = part_bytes
CONCURRENCY = 8  # = concurrency


class Newlines:
    """Counts the newlines of what is written into it. Without seek, all is written in order."""

    def __init__(self):
        self.count = 0

    def write(self, chunk):
        self.count += chunk.count(b"\n")
        return len(chunk)


def newlines(url):
    """Counts the newlines of s3://BUCKET/KEY, which threads download in ranges."""
    bucket, _, key = url.removeprefix("s3://").partition("/")
    found = Newlines()
    config = TransferConfig(multipart_threshold=PART_BYTES, multipart_chunksize=PART_BYTES, max_concurrency=CONCURRENCY)
    boto3.client("s3").download_fileobj(bucket, key, found, Config=config)
    return found.count


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
