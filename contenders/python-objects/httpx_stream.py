"""httpx: a client with a streamed response, as it is or in pieces of one size."""

import httpx
import httpx_client
import url_rules


class HttpxStream:
    def __init__(self, request):
        self.request = request
        self.client = httpx.Client(**httpx_client.settings(request))

    def read(self, tally):
        clock = httpx_client.TlsClock()
        with self.client.stream("GET", self.request.target.text, headers=self.headers(),
                                extensions={"trace": clock.hear}) as response:
            httpx_client.check_http(self.request, response)
            length = url_rules.check(response.status_code, response.reason_phrase, response.headers)
            for chunk in response.iter_raw(self.request.params["buffer_bytes"] or None):
                tally.take(chunk)
        url_rules.check_end(length, tally.bytes)
        tally.facts = {**clock.facts(), "requests": 1, "retries": 0}

    def headers(self):
        """HTTP/2 has no Connection."""
        close = not self.request.params["kept"] and self.request.params["http"] == 1
        return url_rules.headers(**({"Connection": "close"} if close else {}))

    def close(self):
        self.client.close()
