"""The methods that read bytes piece by piece."""

import os

from tally import Tally


def by_read(request):
    tally = Tally(request)
    with open(request.path, "rb", buffering=0) as file:
        left = request.part.seek_in(file)
        while chunk := file.read(min(left, request.params["buffer_bytes"])):
            tally.take(chunk)
            left -= len(chunk)
    return tally.answer()


def by_readinto(request):
    tally = Tally(request)
    buffer = bytearray(request.params["buffer_bytes"])
    view = memoryview(buffer)
    with open(request.path, "rb", buffering=0) as file:
        left = request.part.seek_in(file)
        while length := file.readinto(buffer if left >= len(buffer) else view[:left]):
            left -= length
            if request.work == "newlines":
                tally.add(length, buffer.count(b"\n", 0, length))
            elif request.work == "sum":
                tally.add(length, sum(view[:length]))
            else:
                tally.add(length, 0)
    return tally.answer()


def by_os_read(request):
    tally = Tally(request)
    file = os.open(request.path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while chunk := os.read(file, request.params["buffer_bytes"]):
            tally.take(chunk)
    finally:
        os.close(file)
    return tally.answer()
