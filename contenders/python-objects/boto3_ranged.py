"""get_object of boto3 for each range, in threads. A thread has one whole part in memory and visits it itself."""

from concurrent.futures import ThreadPoolExecutor

from boto3_client import Boto3Client, body_of
from botocore.exceptions import ClientError
from ranges import first_of, following

NO_SUCH_RANGE = 416


class RangedGetObject(Boto3Client):
    def read_object(self, tally):
        with ThreadPoolExecutor(self.request.params["concurrency"]) as pool:
            try:
                self.read_parts(pool, tally)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise

    def read_parts(self, pool, tally):
        first = first_of(self.request.params["part_bytes"])
        try:
            response = pool.submit(self.get, Range=first.header()).result()
        except ClientError as failure:
            if failure.response["ResponseMetadata"]["HTTPStatusCode"] != NO_SUCH_RANGE:
                raise
            # Nothing has no range: the whole object is empty.
            response = self.get()
        parts = [pool.submit(self.visit, response, tally.part())]
        for part in following(self.request.params["part_bytes"], size_of(response)):
            parts.append(pool.submit(self.get_and_visit, part, tally.part()))
        for part in parts:
            tally.add(part.result())

    def get_and_visit(self, part, tally):
        return self.visit(self.get(Range=part.header()), tally)

    def visit(self, response, tally):
        with body_of(response) as body:
            tally.take(body.read())
        return tally


def size_of(response):
    """The size of the object; the guard has checked the range."""
    content_range = response.get("ContentRange")
    return int(content_range.rpartition("/")[2]) if content_range else 0
