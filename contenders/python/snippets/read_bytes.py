# usual: yes
def newlines(path):
    """Counts newlines of the whole file, which lies in memory at once."""
    with open(path, "rb") as file:
        return file.read().count(b"\n")
