"""get_object of boto3: one request, whose body is read piece by piece."""

from boto3_client import Boto3Client, body_of


class GetObject(Boto3Client):
    def read_object(self, tally):
        with body_of(self.get()) as body:
            for chunk in body.iter_chunks(self.request.params["buffer_bytes"]):
                tally.take(chunk)
