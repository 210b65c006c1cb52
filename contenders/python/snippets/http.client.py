import http.client
import sys
from urllib.parse import urlsplit

BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(url):
    """Counts newlines of a URL, read by read. The connection can be used for more requests."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(parts.netloc)
    connection.request("GET", parts._replace(scheme="", netloc="", fragment="").geturl() or "/")
    with connection.getresponse() as response:
        if response.status != 200:
            raise OSError(f"{response.status} {response.reason}")
        count = 0
        while chunk := response.read(BUFFER_BYTES):
            count += chunk.count(b"\n")
        if response.length:
            raise EOFError(f"{response.length} bytes are missing")
    connection.close()
    return count


if __name__ == "__main__":
    print(newlines(sys.argv[1]))
