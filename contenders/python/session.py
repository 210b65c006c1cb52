"""The turns of a session: reads with a clock around each timed reading, and prints only after the last one of a turn.
The clock is time.perf_counter_ns; CPU times are those of getrusage.
"""

import http.client
import re
import resource
import time
import urllib.error
from contextlib import contextmanager

import say
from compressed import FAILURES
from files import FileFailure
from request import Refusal, shown_path

TURN = re.compile(r"go ([0-9]{1,10}) ([0-9]{1,10})")
TURN_MAX = 0xFFFF_FFFF


def serve(request, turns):
    """Takes turns until the end of the input."""
    with prepared(request):
        say.ready(request.params)
        for line in turns:
            lead, count = parse(line.rstrip("\n"))
            with refused(request):
                samples = turn(request, lead, count)
            say.samples(samples)


@contextmanager
def prepared(request):
    """Makes the client that all readings use, if the method keeps one, and closes it in the end."""
    with refused(request):
        request.client = request.method.prepare(request) if request.method.prepare else None
    try:
        yield
    finally:
        if request.client:
            request.client.close()


@contextmanager
def refused(request):
    """Makes one line of a failure: the target, or the one of its files, and the cause."""
    try:
        yield
    except FileFailure as failure:
        raise Refusal(f"{shown_path(failure.path)}: {cause(failure.__cause__)}") from failure
    except (OSError, MemoryError, ValueError, http.client.HTTPException, *FAILURES) as failure:
        raise Refusal(f"{request.shown()}: {cause(failure)}") from failure


def parse(line):
    words = TURN.fullmatch(line)
    lead, count = map(int, words.groups()) if words else (0, 0)
    if count == 0 or max(lead, count) > TURN_MAX:
        raise Refusal(f"expected `go LEAD COUNT` with COUNT above 0, got '{line}'")
    return lead, count


def turn(request, lead, count):
    for _ in range(lead):
        request.method.read(request)
    return [timed(request) for _ in range(count)]


def timed(request):
    read = request.method.read
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter_ns()
    answer = read(request)
    wall_ns = time.perf_counter_ns() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    user_ns = nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime)
    system_ns = nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime)
    return {"wall_ns": wall_ns, "cpu_user_ns": user_ns, "cpu_system_ns": system_ns, **answer}


def nanoseconds(seconds):
    """From seconds that are whole microseconds."""
    return round(seconds * 1_000_000) * 1_000


def cause(failure):
    """The failure without the path, which the message already has, and without the query of a URL."""
    if isinstance(failure, http.client.BadStatusLine) and not isinstance(failure, OSError):
        return "the response does not begin like one of HTTP"
    if isinstance(failure, http.client.InvalidURL):
        return "the URL has a character that it may not have"
    if isinstance(failure, urllib.error.HTTPError):
        return f"{failure.code} {failure.reason}"
    if isinstance(failure, urllib.error.URLError):
        return cause(failure.reason) if isinstance(failure.reason, Exception) else str(failure.reason)
    if isinstance(failure, OSError) and failure.strerror:
        return failure.strerror
    return str(failure) or type(failure).__name__
