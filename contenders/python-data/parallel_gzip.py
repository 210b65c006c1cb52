"""The method that decodes a gzip with several threads."""

import rapidgzip

from tally import Tally


def by_open(request):
    tally = Tally(request)
    # An open file has the system's words for its errors, and its path need not be text.
    with open(request.path, "rb") as opened:
        with rapidgzip.open(opened, parallelization=request.params["threads"]) as file:
            tally.drain(file, request.params["buffer_bytes"])
    return tally.answer()
