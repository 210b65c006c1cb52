# usual: yes
import sys
import urllib.request

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(url):
    """Counts newlines of a URL, read by read. What ended too early returns less; read does not say so."""
    with urllib.request.urlopen(url) as response:
        count = 0
        while chunk := response.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        if response.length:
            raise EOFError(f"{response.length} bytes are missing")
        return count


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
