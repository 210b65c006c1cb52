# needs: the package httpx
import sys

import httpx


def newlines(url):
    """Counts the newlines of a URL, in pieces as they arrive."""
    with httpx.stream("GET", url, timeout=30) as response:
        response.raise_for_status()
        return sum(chunk.count(b"\n") for chunk in response.iter_bytes())


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
