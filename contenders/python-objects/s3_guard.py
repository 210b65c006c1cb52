"""What is true of every request that a client of botocore sends, whichever of its interfaces sends it.

It works by botocore's events, because interfaces above get_object do not pass all parameters on. It
adds If-Match, refuses answers that are not what was requested, counts, and ends endless repeating.
The client of aiobotocore, which s3fs uses, has the same events.
"""

import time

import environment
from failure import Unexpected, cause
from ranges import Range

# Libraries repeat at several levels, each by its own rules. After so long, none begins another time.
REPEAT_SECONDS = 20


class Guard:
    def __init__(self, client):
        events = client.meta.events
        for operation in ("GetObject", "HeadObject"):
            events.register(f"before-parameter-build.s3.{operation}", self.add_condition)
            events.register(f"after-call.s3.{operation}", self.check)
        events.register("before-send.s3", self.count)
        # Before the handler that follows the store to another region.
        events.register_first("needs-retry.s3", self.note)
        self.begin()

    def begin(self):
        """Begins to count for a reading."""
        self.start = time.monotonic()
        self.sent = []
        self.last_cause = None

    def facts(self):
        """A request is a repeated one if another had the same name and range."""
        return {"requests": len(self.sent), "retries": len(self.sent) - len(set(self.sent))}

    def add_condition(self, params, context, **_):
        if environment.etag():
            params["IfMatch"] = environment.etag()
        context["readlab_range"] = params.get("Range")

    def count(self, request, event_name, **_):
        ranged = request.headers.get("Range")
        sent = (event_name, ranged.decode() if isinstance(ranged, bytes) else ranged)
        if sent in self.sent and time.monotonic() - self.start > REPEAT_SECONDS:
            raise Unexpected(f"{self.last_cause or 'no answer'}, after {len(self.sent)} requests")
        self.sent.append(sent)

    def note(self, response, caught_exception, **_):
        """Notes why a request may be repeated."""
        if caught_exception is not None:
            self.last_cause = cause(caught_exception)
        elif response is not None and response[0].status_code >= 300:
            status, code = response[0].status_code, response[1].get("Error", {}).get("Code", "")
            if status < 400:
                raise Unexpected(f"{status}, a redirect")
            self.last_cause = f"{status} {code}"

    def check(self, http_response, parsed, context, **_):
        if http_response.status_code >= 300:
            return
        encoding = parsed.get("ContentEncoding") or "identity"
        if encoding.lower() != "identity":
            raise Unexpected(f"the content is encoded: {encoding}")
        received = parsed.get("ETag")
        if environment.etag() and received and received != environment.etag():
            raise Unexpected(f"the ETag is {received}, not {environment.etag()}")
        self.check_range(http_response.status_code, parsed, context.get("readlab_range"))

    def check_range(self, status, parsed, requested):
        if requested:
            # A range of nothing may be answered with nothing.
            if parsed.get("ContentLength") != 0 or parsed.get("ContentRange"):
                Range.of_header(requested).check(parsed.get("ContentRange"), parsed.get("ContentLength"))
        elif status != 200 or parsed.get("ContentRange"):
            raise Unexpected(f"a request for everything was answered with {status} and a range")
