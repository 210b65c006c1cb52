"""Why there is no reading, and how the cause of a failure is worded."""

import os

LENGTH_MAX = 300


class Refusal(Exception):
    """The request is not possible; the text has the reason."""


class Unavailable(Refusal):
    """The method does not read this file as it is, and nothing has failed."""


def cause(failure):
    """One line, without the path where the system has words for the failure. Libraries of other
    languages put whole lines of the file into their messages."""
    if isinstance(failure, OSError) and failure.errno:
        return os.strerror(failure.errno)
    text = " ".join(str(failure).split())
    return text[:LENGTH_MAX] or type(failure).__name__
