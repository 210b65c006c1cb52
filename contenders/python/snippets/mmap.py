import mmap
import os


def newlines(path, count):
    """Counts newlines where the file is mapped; one that others cut off meanwhile ends the process."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:  # An empty file cannot be mapped.
            return 0
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
            return count(mapped)
