"""A contender with one honest method; each other method gives a false time, CPU time, memory or work.

The hidden time is too long for any allowance. It is CPU time, so that waiting for a processor hides none of it, and is
longer on a busy machine, where the lab takes a share of every turn for waiting.
"""

import json
import os
import resource
import sys
import time

LEAST_HIDDEN_NS = 60_000_000
# The busiest machine for which it is lengthened: so many times the time of a quiet one.
BUSIEST = 4
# For a lie in every other turn, the median is judged, with more allowance for a busy machine.
EVERY_OTHER_S = 0.5
# The methods by name.
METHODS = ["honest", "half_time", "reads_first", "sleeps_outside", "computes_outside", "every_other", "claims_all_cpu", "claims_no_cpu",
           "claims_memory", "remembers"]

# Of the present turn, once it is known.
hidden = []


def say(word, **fields):
    print(json.dumps({"say": word, **fields}), flush=word != "sample")


def read(path):
    newlines = 0
    with open(path, "rb", buffering=0) as file:
        while chunk := file.read(1 << 17):
            newlines += chunk.count(b"\n")
    return newlines


def spend(cpu_ns):
    end = time.process_time_ns() + cpu_ns
    while time.process_time_ns() < end:
        pass


def hidden_ns():
    """Of this process, by how long it takes now to get time of a processor."""
    if not hidden:
        start, cpu_ns = time.perf_counter_ns(), LEAST_HIDDEN_NS // 2
        spend(cpu_ns)
        busy = (time.perf_counter_ns() - start) / cpu_ns
        hidden.append(round(LEAST_HIDDEN_NS * min(max(busy, 1), BUSIEST)))
    return hidden[0]


def read_for(path, time_ns):
    """Reads again and again for at least this CPU time."""
    end = time.process_time_ns() + time_ns
    newlines = read(path)
    while time.process_time_ns() < end:
        newlines = read(path)
    return newlines


def timed(reading):
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter_ns()
    newlines = reading()
    wall_ns, after = time.perf_counter_ns() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = {f"cpu_{name}_ns": round(getattr(after, key) * 1e9) - round(getattr(before, key) * 1e9)
           for name, key in (("user", "ru_utime"), ("system", "ru_stime"))}
    return {"wall_ns": wall_ns, "newlines": newlines, **cpu}


def sample(method, path, turn, memory):
    if method == "half_time":
        taken = timed(lambda: read_for(path, 2 * hidden_ns()))
        return {**taken, "wall_ns": taken["wall_ns"] // 2}
    if method == "reads_first":
        read_for(path, hidden_ns())
    if method == "sleeps_outside":
        # Costs no CPU time, so it is always as long as on the busiest machine.
        time.sleep(BUSIEST * LEAST_HIDDEN_NS / 1e9)
    if method == "every_other" and turn % 2:
        time.sleep(EVERY_OTHER_S)
    if method == "computes_outside":
        spend(hidden_ns())
    if method == "claims_all_cpu":
        return {**timed(lambda: read(path)), "cpu_user_ns": 2**64 - 1}
    if method == "claims_no_cpu":
        # By its own CPU time, however long that takes: a quarter of it is more than any slack.
        return {**timed(lambda: read_for(path, 300_000_000)), "cpu_user_ns": 0, "cpu_system_ns": 0}
    if method == "claims_memory":
        return {**timed(lambda: read(path)), "peak_rss_bytes": 2**63}
    if method == "remembers":
        if not memory:
            memory.append(read(path))
        return timed(lambda: time.sleep(0.05) or memory[0])
    return timed(lambda: read(path))


def main(words):
    say("hello", protocol=1, contender="liar", version="1", runtime="python")
    if words == ["methods"]:
        for method in METHODS:
            say("method", method=method, scans={"newlines": ["-"]}, about="a liar", cache="through")
    if words[:1] != ["read"]:
        return
    say("ready", params={})
    memory = []
    for turn, line in enumerate(sys.stdin):
        hidden.clear()
        _, lead, count = line.split()
        for _ in range(int(lead)):
            sample(words[1], words[4], turn, memory)
        taken = [sample(words[1], words[4], turn, memory) for _ in range(int(count))]
        for it in taken:
            say("sample", **it)
        say("done", count=len(taken))


if __name__ == "__main__":
    main(sys.argv[1:])
