# usual: yes
def lines(path):
    """Counts lines, each a new str."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return sum(1 for _ in file)
