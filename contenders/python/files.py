"""The methods that read several files: those of a list, or all regular ones below a folder.

Links are not followed.
"""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tally import PiecesTally, Tally

# As many threads as an executor has by itself.
WORKERS = min(32, (os.cpu_count() or 1) + 4)


class FileFailure(Exception):
    """One of several files was not read; the exception that was the cause is its cause."""

    def __init__(self, path):
        super().__init__()
        self.path = path


def paths_of(path):
    """The paths of a list, each of which a zero byte ends."""
    with open(path, "rb") as file:
        *paths, rest = file.read().split(b"\0")
    if rest or b"" in paths:
        raise ValueError("a list of files has an empty path, or one without a zero byte at its end")
    return paths


def read_file(request, path):
    tally = Tally(request)
    try:
        with open(path, "rb") as file:
            tally.take(file.read())
    except OSError as failure:
        raise FileFailure(os.fsencode(path)) from failure
    return tally


def is_regular(path):
    """Whether it is a file itself: not a link, a folder, a pipe, a socket or a device."""
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError as failure:
        raise FileFailure(os.fsencode(path)) from failure


def of_folder(failure):
    """A folder that cannot be read ends the reading. By themselves the walks leave it out."""
    raise FileFailure(os.fsencode(failure.filename)) from failure


def by_walk(request):
    """os.walk lists links and pipes among the files, too."""
    found = PiecesTally("files")
    for folder, _, names in os.walk(request.path, onerror=of_folder):
        for name in names:
            path = os.path.join(folder, name)
            if is_regular(path):
                found.add_file(read_file(request, path))
    return found.answer(request)


def by_scandir(request):
    found = PiecesTally("files")
    for path in files_below(request.path):
        found.add_file(read_file(request, path))
    return found.answer(request)


def files_below(folder):
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    yield from files_below(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path
    except OSError as failure:
        of_folder(failure)


def by_rglob(request):
    """For rglob, a folder that is not there, or cannot be read, is empty; stat finds the first."""
    found = PiecesTally("files")
    folder = Path(os.fsdecode(request.path))
    folder.stat()
    for path in folder.rglob("*"):
        if is_regular(path):
            found.add_file(read_file(request, path))
    return found.answer(request)


def by_pool(request):
    found = PiecesTally("files")
    with ThreadPoolExecutor(request.params["workers"]) as pool:
        for tally in pool.map(lambda path: read_file(request, path), request.paths):
            found.add_file(tally)
    return found.answer(request)
