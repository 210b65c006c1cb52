"""The turns of a session: reads with a clock around each timed reading, and prints only after the
last one of a turn. The clock is time.perf_counter_ns; CPU times are those of getrusage, of all
threads.
"""

import re
import resource
import time
from contextlib import contextmanager

import say
from refusal import Refusal, cause

TURN = re.compile(r"go ([0-9]{1,10}) ([0-9]{1,10})")
TURN_MAX = 0xFFFF_FFFF


def serve(request, turns):
    """Takes turns until the end of the input."""
    with refused(request):
        read = request.method.reading()
    say.ready(request.params)
    for line in turns:
        lead, count = parse(line.rstrip("\n"))
        with refused(request):
            samples = turn(lead, count, lambda: timed(read, request))
        say.samples(samples)


@contextmanager
def refused(request):
    """Makes one line of a failure: the path and the cause. The libraries have exceptions of
    many kinds."""
    try:
        yield
    except Refusal as refusal:
        raise type(refusal)(f"{request.shown()}: {refusal}") from None
    except Exception as failure:
        raise Refusal(f"{request.shown()}: {cause(failure)}") from None


def parse(line):
    words = TURN.fullmatch(line)
    lead, count = map(int, words.groups()) if words else (0, 0)
    if count == 0 or max(lead, count) > TURN_MAX:
        raise Refusal(f"expected `go LEAD COUNT` with COUNT above 0, got '{line}'")
    return lead, count


def turn(lead, count, reading):
    for _ in range(lead):
        reading()
    return [reading() for _ in range(count)]


def timed(read, request):
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
