"""A client of boto3 for the store in the environment. Its settings are boto3's own, except those that
say where the store is, how it is trusted, and how many connections it may have.
"""

from contextlib import closing

import boto3
import environment
from botocore import UNSIGNED
from botocore.config import Config
from s3_guard import Guard

# Botocore's own; a client of more threads needs as many, or it closes connections instead of reusing them.
CONNECTIONS = 10


class Boto3Client:
    """What the methods of boto3 have in common: they differ in how they read."""

    def __init__(self, request):
        environment.without_profiles()
        self.request = request
        self.target = request.target
        self.client = client_for(request.params.get("concurrency", 1))
        self.guard = Guard(self.client)

    def read(self, tally):
        self.guard.begin()
        self.read_object(tally)
        tally.facts = self.guard.facts()

    def get(self, **more):
        return self.client.get_object(Bucket=self.target.bucket, Key=self.target.key, **more)

    def close(self):
        self.client.close()


def client_for(threads):
    # No proxy. Without credentials nothing is signed, and none are looked for.
    config = Config(proxies={}, s3={"addressing_style": environment.addressing_style()},
                    connect_timeout=environment.TIMEOUT_SECONDS, read_timeout=environment.TIMEOUT_SECONDS,
                    max_pool_connections=max(CONNECTIONS, threads))
    key, secret, token = environment.credentials() or (None, None, None)
    if not key:
        config = config.merge(Config(signature_version=UNSIGNED))
    return boto3.client("s3", config=config, region_name=environment.region(), endpoint_url=environment.endpoint(),
                        verify=environment.authorities(), aws_access_key_id=key, aws_secret_access_key=secret,
                        aws_session_token=token)


def body_of(response):
    """The body, to be closed by `with`; its own `with` gives the stream below, which checks no length."""
    return closing(response["Body"])
