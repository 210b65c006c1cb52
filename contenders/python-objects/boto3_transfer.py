"""download_fileobj of boto3: its transfer manager requests ranges in threads and writes into a file-like object."""

from boto3.s3.transfer import TransferConfig
from boto3_client import Boto3Client


class Visitor:
    """Visits what is written. It has neither seek nor tell, so the manager writes in order, from one thread."""

    def __init__(self, tally):
        self.tally = tally

    def write(self, chunk):
        self.tally.take(chunk)
        return len(chunk)


class DownloadFileobj(Boto3Client):
    def read_object(self, tally):
        self.client.download_fileobj(self.target.bucket, self.target.key, Visitor(tally), Config=self.config())

    def config(self):
        part_bytes, concurrency = self.request.params["part_bytes"], self.request.params["concurrency"]
        config = TransferConfig(multipart_threshold=part_bytes, multipart_chunksize=part_bytes,
                                max_concurrency=concurrency, preferred_transfer_client="classic")
        # How many parts may wait in memory for the one before; fewer would limit the concurrency to that number.
        config.max_in_memory_download_chunks = max(config.max_in_memory_download_chunks, concurrency)
        return config
