"""What was requested, for tests to look at: a line for each request, numbered by its connection."""

import threading

SECRETS = ("x-amz-signature=", "x-amz-credential=", "x-amz-security-token=", "token=")


def credentials(request):
    """How a request says who sends it: by a header, by its query, or not at all."""
    if "authorization" in request.headers:
        return "header"
    query = request.query.lower()
    return "query" if any(secret in query for secret in SECRETS) else "none"


def has_session_token(request):
    return "x-amz-security-token" in request.headers or "x-amz-security-token=" in request.query.lower()


class RequestLog:
    """Of one server."""

    def __init__(self):
        self.lock = threading.Lock()
        self.connections = 0
        self.requests = []
        self.times = {}

    def next_connection(self):
        with self.lock:
            self.connections += 1
            return self.connections

    def add(self, connection, request):
        """Returns how many requests of this path came before; a HEAD is not counted."""
        words = [
            "connection=%d" % connection,
            "method=%s" % request.method,
            "path=%s" % request.path,
            "credentials=%s" % credentials(request),
            "session_token=%s" % ("yes" if has_session_token(request) else "no"),
        ]
        for name in ("range", "if-match", "accept-encoding"):
            value = request.headers.get(name, "-").replace(" ", "")
            words.append("%s=%s" % (name.replace("-", "_"), value))
        with self.lock:
            self.requests.append(" ".join(words))
            earlier = self.times.get(request.path, 0)
            if request.method != "HEAD":
                self.times[request.path] = earlier + 1
            return earlier

    def lines(self):
        with self.lock:
            return "".join(line + "\n" for line in self.requests)
