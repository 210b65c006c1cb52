# needs: the package boto3
# usual: yes
import sys
from contextlib import closing

import boto3

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(url):
    """Counts the newlines of s3://BUCKET/KEY, piece by piece."""
    bucket, _, key = url.removeprefix("s3://").partition("/")
    with closing(boto3.client("s3").get_object(Bucket=bucket, Key=key)["Body"]) as body:
        return sum(chunk.count(b"\n") for chunk in body.iter_chunks(BUFFER_BYTES))


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
