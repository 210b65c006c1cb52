#!/usr/bin/env python3
# In place of the agent that is linked to MPI: it says that there are RANKS ranks, of which readlab is the first, and that
# each of the others reports what the first does. So rank 0 has the work that it has with as many hosts.
import os
import re
import struct
import sys

RANKS = int(os.environ["OMPI_COMM_WORLD_SIZE"])
source, sink = sys.stdin.buffer, sys.stdout.buffer
# What says which rank reports: page caches of its own, and the times of its turns.
OWN = re.compile(rb'("inode":\[|"rank":)\d+,')


def answer(kind, body):
    sink.write(kind + struct.pack("<I", len(body)) + body)
    sink.flush()


def reports(body):
    if not OWN.search(body):
        return [body] * RANKS
    return [OWN.sub(rb"\g<1>%d," % rank, body) for rank in range(RANKS)]


while True:
    head = source.read(5)
    if len(head) < 5:
        sys.exit(1)
    kind, body = head[:1], source.read(struct.unpack("<I", head[1:])[0])
    if kind == b"r":
        answer(kind, struct.pack("<II", 0, RANKS) + b"no MPI")
    elif kind == b"g":
        parts = reports(body)
        answer(kind, b"".join(struct.pack("<I", len(part)) for part in parts) + b"".join(parts))
    elif kind == b"b":
        answer(kind, body)
    elif kind == b"c":
        answer(kind, struct.pack("<qQ", 0, 0))
    elif kind == b"w":
        answer(kind, b"")
    else:
        sys.exit(0 if kind == b"e" else 1)
