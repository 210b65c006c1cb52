"""The method that decodes an LZ4 by the library of its name."""

import lz4.frame

from tally import Tally


def by_open(request):
    tally = Tally(request)
    with lz4.frame.open(request.path, "rb") as file:
        tally.drain(file, request.params["buffer_bytes"])
    return tally.answer()
