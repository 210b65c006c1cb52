"""The consumers of all methods that visit bytes: they count the bytes and do the work."""

# The numbers of a file or a block are taken modulo this in the proof of several (PROTOCOL.md).
PROOF_MODULUS = 65521


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

    def value(self):
        """What the work counts; lines are not counted so."""
        if self.work == "discard":
            return self.bytes
        return self.found & 0xFF if self.work == "sum" else self.found

    def answer(self):
        if self.work == "discard":
            return {"bytes": self.bytes}
        if self.work == "lines":
            return {"bytes": self.bytes, "lines": self.found + bool(self.unended)}
        return {"bytes": self.bytes, self.work: self.found & 0xFF if self.work == "sum" else self.found}


class PiecesTally:
    """Adds up several files or blocks, and proves each of them; the word is that of messages."""

    def __init__(self, word):
        self.word = word
        self.bytes = 0
        self.found = 0
        self.pieces = 0
        self.products = 0

    def add(self, number, length, value):
        """Adds what the work counts in one, which the number proves."""
        self.bytes += length
        self.found += value
        self.pieces += 1
        self.products += (number % PROOF_MODULUS + 1) * (value % PROOF_MODULUS + 1)

    def add_file(self, tally):
        """Adds the tally of one file."""
        self.add(tally.bytes, tally.bytes, tally.value())

    def merge(self, other):
        """Adds what another one has added up."""
        self.bytes += other.bytes
        self.found += other.found
        self.pieces += other.pieces
        self.products += other.products

    def answer(self, request):
        tally = Tally(request)
        tally.add(self.bytes, self.found)
        return {**tally.answer(), self.word: self.pieces, "products": self.products % 2**32}
