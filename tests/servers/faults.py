"""What can go wrong with an answer, by name. A fault is a function of a connection and a request; it returns whether
the connection stays. Faults of the body leave a HEAD correct, as some clients begin with one."""

import gzip
import socket
import struct
import time

from answers import BODY, Answer, correct, error, send, without_condition

OTHER_ETAG = '"fedcba9876543210fedcba9876543210"'


def well(connection, request):
    return send(connection.wfile, request, correct(request))


def of_the_body(fault):
    """A fault that a HEAD does not show."""

    def with_correct_head(connection, request):
        return (well if request.method == "HEAD" else fault)(connection, request)

    return with_correct_head


@of_the_body
def truncated(connection, request):
    """Half of the body, then the end of the connection."""
    answer = correct(request)
    connection.wfile.write(answer.head() + answer.body[: len(answer.body) // 2])
    return False


@of_the_body
def reset(connection, request):
    """Half of the body, then a reset."""
    truncated(connection, request)
    time.sleep(0.05)
    connection.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.connection.close()
    return False


@of_the_body
def chunk_cut(connection, request):
    """A chunked body without its end."""
    answer = correct(request)
    del answer.headers["Content-Length"]
    answer.headers["Transfer-Encoding"] = "chunked"
    connection.wfile.write(answer.head() + b"%x\r\n%s\r\n" % (len(answer.body), answer.body))
    return False


@of_the_body
def endless(connection, request):
    """Bytes after the promised ones, while the client takes them; 64 MiB at most."""
    answer = correct(request)
    connection.wfile.write(answer.head() + answer.body)
    for _ in range(1024):
        connection.wfile.write(b"\n" * 65536)
    return False


def slow_down(connection, request):
    return send(connection.wfile, request, error(503, "SlowDown"))


@of_the_body
def slow_down_twice(connection, request):
    return (slow_down if request.earlier < 2 else well)(connection, request)


@of_the_body
def other_range(connection, request):
    """The range that begins one byte later."""
    first, last = request.range() or (0, len(BODY) - 1)
    answer = correct(request)
    answer.status = 206
    answer.headers["Content-Range"] = "bytes %d-%d/%d" % (first + 1, last + 1, len(BODY) + 1)
    answer.body = BODY[first + 1 : last + 1] + b"x"
    return send(connection.wfile, request, answer)


@of_the_body
def shorter_range(connection, request):
    """The range without its last byte."""
    first, last = request.range() or (0, len(BODY) - 1)
    body = BODY[first:last]
    answer = correct(request)
    answer.status = 206
    answer.headers["Content-Range"] = "bytes %d-%d/%d" % (first, last - 1, len(BODY))
    answer.headers["Content-Length"] = str(len(body))
    answer.body = body
    return send(connection.wfile, request, answer)


def with_another_body(change):
    """A fault of a range: its head promises what was asked for, its `Content-Length` and its body do not."""

    @of_the_body
    def fault(connection, request):
        answer = correct(request)
        if answer.status == 206:
            answer.body = change(answer.body)
            answer.headers["Content-Length"] = str(len(answer.body))
        return send(connection.wfile, request, answer)

    return fault


@of_the_body
def whole(connection, request):
    """All bytes to a request for some."""
    request.headers.pop("range", None)
    return well(connection, request)


@of_the_body
def encoded(connection, request):
    """A content encoding that nobody asked for."""
    answer = correct(request)
    answer.body = gzip.compress(answer.body, 1)
    answer.headers["Content-Length"] = str(len(answer.body))
    answer.headers["Content-Encoding"] = "gzip"
    return send(connection.wfile, request, answer)


def other_etag(connection, request):
    """The bytes of another version, without a look at `If-Match`."""
    return send(connection.wfile, request, without_condition(request, OTHER_ETAG))


@of_the_body
def changing(connection, request):
    """The first request gets the version that it asked for, all others another one."""
    return (other_etag if request.earlier else well)(connection, request)


def precondition(connection, request):
    return send(connection.wfile, request, error(412, "PreconditionFailed"))


def redirect(connection, request):
    """To the other server, with the query."""
    where = connection.server.redirect_to + request.path + ("?" + request.query if request.query else "")
    return send(connection.wfile, request, Answer(307, {"Location": where}))


def slow_header(connection, request):
    """One byte of the header a second."""
    for byte in correct(request).head():
        connection.wfile.write(bytes([byte]))
        time.sleep(1)
    return False


def silent(connection, _request):
    """No answer; ends when the client hangs up."""
    connection.rfile.read(1)
    return False


FAULTS = {
    "truncated": truncated,
    "reset": reset,
    "chunk-cut": chunk_cut,
    "endless": endless,
    "slow-down": slow_down,
    "slow-down-twice": slow_down_twice,
    "other-range": other_range,
    "shorter-range": shorter_range,
    "longer-part": with_another_body(lambda body: body + b"\n" * 100),
    "shorter-part": with_another_body(lambda body: body[:-100]),
    "whole": whole,
    "encoded": encoded,
    "other-etag": other_etag,
    "changing": changing,
    "precondition": precondition,
    "redirect": redirect,
    "slow-header": slow_header,
    "silent": silent,
}


def chosen(path):
    return FAULTS.get(path.rpartition("/")[2].partition(".")[0], well)
