"""requests: a session with a streamed response."""

import environment
import requests
import url_rules


class RequestsStream:
    def __init__(self, request):
        self.request = request
        self.session = requests.Session()
        # No proxy and no password of the environment.
        self.session.trust_env = False
        self.session.verify = environment.authorities() or True

    def read(self, tally):
        close = {} if self.request.params["kept"] else {"Connection": "close"}
        with self.session.get(self.request.target.text, headers=url_rules.headers(**close), stream=True,
                              allow_redirects=False, timeout=environment.TIMEOUT_SECONDS) as response:
            length = url_rules.check(response.status_code, response.reason, response.headers)
            for chunk in response.iter_content(self.request.params["buffer_bytes"]):
                tally.take(chunk)
        url_rules.check_end(length, tally.bytes)
        tally.facts = {"requests": 1, "retries": 0}

    def close(self):
        self.session.close()
