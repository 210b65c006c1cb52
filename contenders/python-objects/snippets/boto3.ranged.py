# needs: the package boto3
import sys
from concurrent.futures import ThreadPoolExecutor

import boto3

PART_BYTES = 8388608  # = part_bytes
CONCURRENCY = 8  # = concurrency


def newlines(url):
    """Counts the newlines of s3://BUCKET/KEY, some ranges at once, all of the version that was there first."""
    bucket, _, key = url.removeprefix("s3://").partition("/")
    client = boto3.client("s3")
    head = client.head_object(Bucket=bucket, Key=key)

    def count(begin):
        part = f"bytes={begin}-{begin + PART_BYTES - 1}"
        body = client.get_object(Bucket=bucket, Key=key, Range=part, IfMatch=head["ETag"])["Body"]
        return body.read().count(b"\n")

    with ThreadPoolExecutor(CONCURRENCY) as pool:
        return sum(pool.map(count, range(0, head["ContentLength"], PART_BYTES)))


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
