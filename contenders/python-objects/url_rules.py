"""What every request for a URL sends, and the checks of the head of every response."""

import environment
from failure import Unexpected


def headers(**more):
    sent = {"Accept-Encoding": "identity", **more}
    if environment.etag():
        sent["If-Match"] = environment.etag()
    return sent


def check(status, reason, received):
    """Returns how many bytes the body must have, if the server says so."""
    if status != 200:
        raise Unexpected(f"{status} {reason}".rstrip())
    check_version(received)
    length = received.get("Content-Length")
    return None if length is None else int(length)


def check_part(part, status, reason, received):
    """Of a response to a range: returns the length of the part and the size of the whole."""
    if status != 206:
        raise Unexpected(f"{part} was answered with {status} {reason}".rstrip())
    check_version(received)
    return part.check(received.get("Content-Range"), received.get("Content-Length"))


def check_version(received):
    encoding = received.get("Content-Encoding", "identity")
    if encoding.lower() != "identity":
        raise Unexpected(f"the content is encoded: {encoding}")
    etag = received.get("ETag")
    if environment.etag() and etag and etag != environment.etag():
        raise Unexpected(f"the ETag is {etag}, not {environment.etag()}")


def check_end(length, taken):
    if length is not None and taken != length:
        raise Unexpected(f"the body had {taken} bytes, not {length}")
