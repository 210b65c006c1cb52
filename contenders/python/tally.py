"""The consumer of all methods that visit bytes: it counts the bytes and does the work."""


class Tally:
    def __init__(self, request):
        self.work = request.work
        self.bytes = 0
        self.found = 0
        # The pieces of a line that has not ended, for the work lines.
        self.unended = []

    def take(self, chunk):
        """Visits bytes, or a whole bytearray."""
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

    def add(self, length, found):
        """Adds numbers that were computed elsewhere."""
        self.bytes += length
        self.found += found

    def answer(self):
        if self.work == "discard":
            return {"bytes": self.bytes}
        if self.work == "lines":
            return {"bytes": self.bytes, "lines": self.found + bool(self.unended)}
        return {"bytes": self.bytes, self.work: self.found & 0xFF if self.work == "sum" else self.found}
