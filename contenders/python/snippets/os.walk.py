# usual: yes
import os
import stat


def unreadable(failure):
    raise failure


def newlines(folder):
    """Counts newlines of every regular file below a folder.

    Without onerror, folders that cannot be read are left out.
    """
    count = 0
    for parent, _, names in os.walk(folder, onerror=unreadable):
        for name in names:
            path = os.path.join(parent, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                with open(path, "rb") as file:
                    count += file.read().count(b"\n")
    return count
