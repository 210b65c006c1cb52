"""The methods that read a URL: urllib.request and http.client, both of the standard library."""

import http.client
import select
import time
import urllib.request
from contextlib import closing

import url
from tally import Tally


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        """None makes the redirect an HTTPError."""


def by_urllib(request):
    """An opener of its own, because the one of urlopen would use proxies and follow redirects."""
    begin = time.perf_counter_ns()
    handlers = [urllib.request.ProxyHandler({}), NoRedirects]
    if request.url.secure:
        handlers.append(urllib.request.HTTPSHandler(context=url.trust()))
    opener = urllib.request.build_opener(*handlers)
    asked = urllib.request.Request(request.url.text, headers=url.headers())
    with opener.open(asked, timeout=url.TIMEOUT_SECONDS) as response:
        return read_body(request, response, begin)


def by_http_client(request):
    begin = time.perf_counter_ns()
    if request.client:
        reconnect_if_dropped(request.client)
        return get(request, request.client, begin)
    with closing(connect(request)) as connection:
        return get(request, connection, begin)


def get(request, connection, begin):
    connection.request("GET", request.url.path, headers=url.headers(kept=request.params["kept"]))
    with connection.getresponse() as response:
        return read_body(request, response, begin)


def prepare_http_client(request):
    """The connection that all readings use, if it is kept. It connects with its first request."""
    return connect(request) if request.params["kept"] else None


def connect(request):
    host, port = request.url.host, request.url.port
    if request.url.secure:
        return http.client.HTTPSConnection(host, port, timeout=url.TIMEOUT_SECONDS, context=url.trust())
    return http.client.HTTPConnection(host, port, timeout=url.TIMEOUT_SECONDS)


def reconnect_if_dropped(connection):
    """An idle connection with something to read was closed by the server, or has bytes that belong
    to no response. Once it is closed, the next request makes a new one."""
    if connection.sock and select.select([connection.sock], [], [], 0)[0]:
        connection.close()


def read_body(request, response, begin):
    url.check(response)
    tally = Tally(request)
    first_byte = {}
    while chunk := response.read(request.params["buffer_bytes"]):
        if not first_byte:
            first_byte["first_byte_ns"] = time.perf_counter_ns() - begin
        tally.take(chunk)
    url.check_end(response)
    return {**tally.answer(), **first_byte, "requests": 1, "retries": 0}
