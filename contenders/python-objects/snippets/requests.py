# needs: the package requests
# usual: yes
import sys

import requests

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(url):
    """Counts the newlines of a URL, piece by piece."""
    with requests.get(url, stream=True, timeout=30) as response:
        response.raise_for_status()
        return sum(chunk.count(b"\n") for chunk in response.iter_content(BUFFER_BYTES))


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
