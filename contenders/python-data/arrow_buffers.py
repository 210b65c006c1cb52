"""The methods of Arrow's files: buffers that NumPy sees as arrays, without another copy."""

import numpy
import pyarrow

from tally import Tally


def by_os_file(request):
    tally = Tally(request)
    with pyarrow.OSFile(request.path) as file:
        while buffer := file.read_buffer(request.params["buffer_bytes"] or None):
            tally.take(array_of(buffer))
    return tally.answer()


def by_memory_map(request):
    """The mapping ends when neither its file nor a buffer is left."""
    tally = Tally(request)
    with pyarrow.memory_map(request.path) as file:
        if buffer := file.read_buffer():
            tally.take_mapped(array_of(buffer))
    return tally.answer()


def array_of(buffer):
    return numpy.frombuffer(buffer, dtype=numpy.uint8)
