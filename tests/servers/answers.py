"""Requests and answers of HTTP/1.1, byte by byte, so that faults can break them at any place."""

import re

BODY = b"".join(b"%d: one line of the body that is served\n" % n for n in range(7000)) + b"its end"
ETAG = '"0123456789abcdef0123456789abcdef"'
REASONS = {
    200: "OK",
    206: "Partial Content",
    307: "Temporary Redirect",
    405: "Method Not Allowed",
    412: "Precondition Failed",
    416: "Range Not Satisfiable",
    503: "Slow Down",
}


class Request:
    """What a client sent."""

    def __init__(self, method, target, headers):
        self.method = method
        self.path, _, self.query = target.partition("?")
        self.headers = headers
        self.earlier = 0

    def range(self):
        """The first and the last byte that it asks for; None if it asks for all."""
        match = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("range", ""))
        if not match or match.group(0) == "bytes=-":
            return None
        first, last = match.groups()
        if not first:
            return max(len(BODY) - int(last), 0), len(BODY) - 1
        return int(first), min(int(last or len(BODY)), len(BODY) - 1)


class Answer:
    """A status, headers and a body, still to be changed by a fault."""

    def __init__(self, status, headers=(), body=b""):
        self.status = status
        self.headers = dict(headers)
        self.body = body
        self.headers.setdefault("Content-Length", str(len(body)))

    def head(self):
        lines = ["HTTP/1.1 %d %s" % (self.status, REASONS[self.status])]
        lines += ["%s: %s" % each for each in self.headers.items()]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


def read_request(stream):
    """The next request of a connection; None at its end."""
    words = stream.readline(65536).decode("latin-1").split()
    if len(words) != 3:
        return None
    headers = {}
    while True:
        line = stream.readline(65536).decode("latin-1").strip()
        if not line:
            break
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    stream.read(int(headers.get("content-length", 0)))
    return Request(words[0], words[1], headers)


def send(stream, request, answer):
    """Returns whether the connection stays."""
    stream.write(answer.head() + (b"" if request.method == "HEAD" else answer.body))
    return request.headers.get("connection", "").lower() != "close"


def text(words):
    return Answer(200, {"Content-Type": "text/plain"}, words.encode())


def error(status, code):
    """As S3 words it."""
    body = '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>%s</Code><Message>%s</Message></Error>' % (code, code)
    return Answer(status, {"Content-Type": "application/xml"}, body.encode())


def correct(request, etag=ETAG):
    """What a well-behaved server answers."""
    if request.method not in ("GET", "HEAD"):
        return error(405, "MethodNotAllowed")
    if request.headers.get("if-match", etag) not in (etag, "*"):
        return error(412, "PreconditionFailed")
    return without_condition(request, etag)


def without_condition(request, etag=ETAG):
    """The same, from a server that does not know `If-Match`."""
    headers = {
        "ETag": etag,
        "Accept-Ranges": "bytes",
        "Content-Type": "application/octet-stream",
        "Last-Modified": "Thu, 01 Jan 2026 00:00:00 GMT",
    }
    asked = request.range()
    if asked is None:
        return Answer(200, headers, BODY)
    first, last = asked
    if first >= len(BODY):
        return error(416, "InvalidRange")
    headers["Content-Range"] = "bytes %d-%d/%d" % (first, last, len(BODY))
    return Answer(206, headers, BODY[first : last + 1])
