"""The consumer of all methods that visit bytes: it counts the bytes and does the work."""


class Tally:
    def __init__(self, request):
        self.work = request.work
        self.bytes = 0
        self.found = 0

    def take(self, chunk):
        """Visits bytes, or a whole bytearray."""
        self.bytes += len(chunk)
        if self.work == "newlines":
            self.found += chunk.count(b"\n")
        elif self.work == "sum":
            self.found += sum(chunk)

    def add(self, length, found):
        """Adds numbers that were computed elsewhere."""
        self.bytes += length
        self.found += found

    def answer(self):
        if self.work == "discard":
            return {"bytes": self.bytes}
        return {"bytes": self.bytes, self.work: self.found & 0xFF if self.work == "sum" else self.found}
