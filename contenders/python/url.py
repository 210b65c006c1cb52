"""A URL that is read: what each request for it sends, whom it trusts, and the checks of every response.

The lab gives a contender what it needs for servers in its environment (PROTOCOL.md, "Servers"). The
query of a URL may be a secret, so messages show the URL without it.
"""

import os
import ssl
from urllib.parse import urlsplit

TIMEOUT_SECONDS = 20


class Unexpected(OSError):
    """A response that is not the content that was requested; the text has the reason."""


class Url:
    def __init__(self, target):
        """`-` stands for a URL that is a secret: it is in the environment."""
        self.text = os.environ.get("READLAB_TARGET", "") if target == "-" else target
        parts = urlsplit(self.text)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("not a URL of a server")
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self.secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = parts.port
        self.path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def headers(kept=False):
    sent = {"Accept-Encoding": "identity", "Connection": "keep-alive" if kept else "close"}
    if etag():
        sent["If-Match"] = etag()
    return sent


def etag():
    return os.environ.get("READLAB_ETAG")


def trust():
    """A context that verifies certificates: by the given authorities, or by those of the system."""
    authorities = os.environ.get("READLAB_CACERT")
    try:
        return ssl.create_default_context(cafile=authorities or None)
    except OSError as cause:
        raise Unexpected(f"READLAB_CACERT: {cause.strerror or cause}") from cause


def check(response):
    """Refuses a response of http.client that is not the plain content of the URL."""
    if response.status != 200:
        raise Unexpected(f"{response.status} {response.reason}".rstrip())
    encoding = response.getheader("Content-Encoding", "identity")
    if encoding.lower() != "identity":
        raise Unexpected(f"the content is encoded: {encoding}")
    received = response.getheader("ETag")
    if etag() and received and received != etag():
        raise Unexpected(f"the ETag is {received}, not {etag()}")


def check_end(response):
    """Refuses a body that ended too early: read(amount) returns less, but does not raise."""
    if response.length:
        raise Unexpected(f"the body ended {response.length} bytes too early")
