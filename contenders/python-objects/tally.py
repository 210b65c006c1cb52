"""The consumer of all methods: it counts the bytes, does the work, and notes when the first byte came."""

import time


class Tally:
    def __init__(self, work, start_ns):
        self.work = work
        self.start_ns = start_ns
        self.first_byte_ns = None
        self.bytes = 0
        self.found = 0
        # The pieces of a line that has not ended, for the work lines.
        self.unended = []
        # What the client says beside the bytes: fields of a sample.
        self.facts = {}

    def take(self, chunk):
        """Visits bytes; for the work lines, they must come in order."""
        if self.first_byte_ns is None and chunk:
            self.first_byte_ns = time.perf_counter_ns() - self.start_ns
        self.bytes += len(chunk)
        if self.work == "newlines":
            self.found += chunk.count(b"\n")
        elif self.work == "sum":
            self.found += sum(chunk)
        elif self.work == "lines":
            self.take_lines(chunk)

    def take_lines(self, chunk):
        """Makes bytes of every line, also of one whose beginning was in chunks before."""
        *ended, rest = chunk.split(b"\n")
        if ended:
            self.unended.append(ended[0])
            ended[0] = b"".join(self.unended)
            self.unended = []
            self.found += len(ended)
        if rest:
            self.unended.append(rest)

    def part(self):
        """A tally for a part of the bytes, for a thread of its own."""
        return Tally(self.work, self.start_ns)

    def add(self, part):
        """Adds a part whose bytes were visited elsewhere. Parts may come in any order."""
        self.bytes += part.bytes
        self.found += part.found
        times = [time for time in (self.first_byte_ns, part.first_byte_ns) if time is not None]
        self.first_byte_ns = min(times, default=None)

    def answer(self):
        fields = {**self.facts, "bytes": self.bytes}
        if self.first_byte_ns is not None:
            fields["first_byte_ns"] = self.first_byte_ns
        if self.work == "lines":
            fields["lines"] = self.found + bool(self.unended)
        elif self.work != "discard":
            fields[self.work] = self.found & 0xFF if self.work == "sum" else self.found
        return fields
