"""s3fs: a file of fsspec over aiobotocore. Its cache, readahead, requests what is read and one block more."""

import environment
from aiobotocore.httpsession import AIOHTTPSession
from fsspec.asyn import sync
from s3_guard import Guard
from s3fs import S3FileSystem

# An idle connection is kept for as long as a race may take, not for 12 seconds.
KEPT_SECONDS = 24 * 3600


class StayingSession(AIOHTTPSession):
    """aiohttp follows redirects unless each request says otherwise, and takes the session's token to the other host."""

    async def _get_session(self, proxy_url):
        return Staying(await super()._get_session(proxy_url))


class Staying:
    def __init__(self, session):
        self.session = session

    def request(self, method, **more):
        return self.session.request(method, allow_redirects=False, **more)


class S3File:
    def __init__(self, request):
        environment.without_profiles()
        self.params = request.params
        self.path = f"{request.target.bucket}/{request.target.key}"
        self.files = file_system()
        self.guard = Guard(self.files.s3)

    def read(self, tally):
        self.guard.begin()
        with self.files.open(self.path, "rb", block_size=self.params["block_bytes"]) as file:
            while chunk := file.read(self.params["buffer_bytes"]):
                tally.take(chunk)
        tally.facts = self.guard.facts()

    def close(self):
        sync(self.files.loop, self.files.s3.close)


def file_system():
    """Not the instance that fsspec shares, and no listings of folders."""
    config = {"proxies": {}, "s3": {"addressing_style": environment.addressing_style()},
              "connect_timeout": environment.TIMEOUT_SECONDS, "read_timeout": environment.TIMEOUT_SECONDS,
              "connector_args": {"keepalive_timeout": KEPT_SECONDS}, "http_session_cls": StayingSession}
    key, secret, token = environment.credentials() or (None, None, None)
    return S3FileSystem(anon=not key, key=key, secret=secret, token=token, endpoint_url=environment.endpoint(),
                        client_kwargs={"region_name": environment.region(), "verify": environment.authorities()},
                        config_kwargs=config, skip_instance_cache=True, use_listings_cache=False)
