"""What a client of httpx gets, synchronous or not, and how long it took to agree on encryption."""

import ssl
import time

import environment
import httpx
from failure import Unexpected

VERSIONS = {1: "HTTP/1.1", 2: "HTTP/2"}


def settings(request):
    """Arguments of Client and AsyncClient."""
    connections = request.params.get("concurrency", 1)
    # Not for five seconds: a kept connection waits for the turns of others.
    limits = httpx.Limits(max_connections=connections, max_keepalive_connections=connections, keepalive_expiry=None)
    second = request.params["http"] == 2
    return {"http1": not second or request.target.secure, "http2": second, "limits": limits,
            "verify": trust(), "trust_env": False, "timeout": environment.TIMEOUT_SECONDS}


def trust():
    """Certificates by the given authorities; otherwise by those of certifi, as httpx does."""
    authorities = environment.authorities()
    return ssl.create_default_context(cafile=authorities) if authorities else True


def check_http(request, response):
    """With encryption, the server may choose another version."""
    wanted = VERSIONS[request.params["http"]]
    if response.http_version != wanted:
        raise Unexpected(f"the server speaks {response.http_version}, not {wanted}")


class TlsClock:
    """Hears from httpx what it does, and times the agreement on encryption of the first connection."""

    def __init__(self):
        self.begin_ns = None
        self.tls_ns = None

    def hear(self, event, _info):
        if event == "connection.start_tls.started" and self.begin_ns is None:
            self.begin_ns = time.perf_counter_ns()
        elif event == "connection.start_tls.complete" and self.tls_ns is None:
            self.tls_ns = time.perf_counter_ns() - self.begin_ns

    async def hear_async(self, event, info):
        self.hear(event, info)

    def facts(self):
        return {} if self.tls_ns is None else {"tls_ns": self.tls_ns}
