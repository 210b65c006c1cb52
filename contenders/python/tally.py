"""The consumer of all methods that see bytes: counts them and does the work on them."""


class Tally:
    def __init__(self, request):
        self.work = request.work
        self.bytes = 0
        self.found = 0

    def take(self, chunk):
        """Takes bytes, or a bytearray of which all counts."""
        self.bytes += len(chunk)
        if self.work == "newlines":
            self.found += chunk.count(b"\n")
        elif self.work == "sum":
            self.found += sum(chunk)

    def add(self, length, found):
        """Adds what was found elsewhere."""
        self.bytes += length
        self.found += found

    def answer(self):
        if self.work == "discard":
            return {"bytes": self.bytes}
        return {"bytes": self.bytes, self.work: self.found & 0xFF if self.work == "sum" else self.found}
