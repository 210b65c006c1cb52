#!/usr/bin/env python3
"""A server that misbehaves, for tests: `misbehaving.py`, with Python 3.8 or later. Prints where it is, then `ready`,
and ends when its standard input closes or it is killed.

    endpoint=   serves one body of lines; the last part of the path, up to its first dot, chooses what goes wrong
    other=      where redirects lead; it answers everything with the same body
    log         both have /log: a line for each request, and whether it carried credentials (see request_log.py)

What can go wrong is the table FAULTS in faults.py; everything else is served well, with ranges and `If-Match`. A path
like /bucket/slow-down-twice.17 is an object of its own: faults that count requests count those of one path.
"""

import socketserver
import sys
import threading

sys.dont_write_bytecode = True  # no folder beside these sources

import answers  # noqa: E402
import faults  # noqa: E402
import request_log  # noqa: E402


class Server(socketserver.ThreadingTCPServer):
    """One port; a thread for each connection."""

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 512

    def __init__(self, faulty):
        super().__init__(("127.0.0.1", 0), Connection)
        self.faulty = faulty
        self.log = request_log.RequestLog()
        self.redirect_to = None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self):
        return "http://127.0.0.1:%d" % self.server_address[1]

    def handle_error(self, request, client_address):
        """A client that hangs up is no event."""


class Connection(socketserver.StreamRequestHandler):
    """Requests until the client or a fault closes the connection."""

    disable_nagle_algorithm = True

    def handle(self):
        number = self.server.log.next_connection()
        while True:
            request = answers.read_request(self.rfile)
            if request is None:
                return
            if request.path == "/log":
                answers.send(self.wfile, request, answers.text(self.server.log.lines()))
                continue
            request.earlier = self.server.log.add(number, request)
            fault = faults.chosen(request.path) if self.server.faulty else faults.well
            if not fault(self, request):
                return


def main():
    other = Server(faulty=False)
    server = Server(faulty=True)
    server.redirect_to = other.url()
    print("endpoint=" + server.url())
    print("other=" + other.url())
    print("ready", flush=True)
    while sys.stdin.buffer.read(4096):
        pass


if __name__ == "__main__":
    main()
