import os


def files_below(folder):
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from files_below(entry.path)
            elif entry.is_file(follow_symlinks=False):
                yield entry.path


def newlines(folder):
    """Counts newlines of every regular file below a folder, whose entries know their kind."""
    count = 0
    for path in files_below(folder):
        with open(path, "rb") as file:
            count += file.read().count(b"\n")
    return count
