"""The turns of a session: reads with a clock around each timed reading, and prints only after the last one of a turn.
The clock is time.perf_counter_ns; CPU times are those of getrusage, of all threads.
"""

import re
import resource
import time
from contextlib import closing, contextmanager, nullcontext

import say
from failure import cause
from request import Refusal
from tally import Tally

TURN = re.compile(r"go ([0-9]{1,10}) ([0-9]{1,10})")
TURN_MAX = 0xFFFF_FFFF


def serve(request, turns):
    """Takes turns until the end of the input."""
    with refused(request):
        make = request.method.client_class()
        kept = make(request) if request.params["kept"] else None
    with closing(kept) if kept else nullcontext():
        say.ready(request.params)
        for line in turns:
            lead, count = parse(line.rstrip("\n"))
            with refused(request):
                samples = turn(lead, count, lambda: timed(request, make, kept))
            say.samples(samples)


@contextmanager
def refused(request):
    """Makes one line of a failure: the target and the cause. The libraries have exceptions of many kinds."""
    try:
        yield
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


def timed(request, make, kept):
    before = resource.getrusage(resource.RUSAGE_SELF)
    start = time.perf_counter_ns()
    tally = Tally(request.work, start)
    read(request, make, kept, tally)
    wall_ns = time.perf_counter_ns() - start
    after = resource.getrusage(resource.RUSAGE_SELF)
    user_ns = nanoseconds(after.ru_utime) - nanoseconds(before.ru_utime)
    system_ns = nanoseconds(after.ru_stime) - nanoseconds(before.ru_stime)
    return {"wall_ns": wall_ns, "cpu_user_ns": user_ns, "cpu_system_ns": system_ns, **tally.answer()}


def read(request, make, kept, tally):
    if kept:
        kept.read(tally)
    else:
        with closing(make(request)) as client:
            client.read(tally)


def nanoseconds(seconds):
    """From seconds that are whole microseconds."""
    return round(seconds * 1_000_000) * 1_000
