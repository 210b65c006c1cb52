#!/usr/bin/env python3
"""A file system of one file, `file`, served through /dev/fuse from another file: passthrough.py BACKING MOUNT_POINT
[keep|drop|direct|pass|forget]

It does what every FUSE program may do: each read is answered through a page cache of which the kernel, queried for
MOUNT_POINT/file, has no record; with `keep` from its own memory. With `drop` the kernel drops the file's pages at each
open; with `direct` it keeps none. With `pass` the kernel gets the other file and reads it itself (Linux 6.9). With `forget` the
kernel may keep no name. Needs root and only Python. Prints "ready" when the file can be read.
"""
import fcntl
import os
import struct
import subprocess
import sys

ENOENT, EIO, ENOSYS = 2, 5, 38
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE, FSYNC, FLUSH, INIT, OPENDIR, RELEASEDIR, INTERRUPT = (
    1, 2, 3, 14, 15, 17, 18, 20, 25, 26, 27, 29, 36)
BATCH_FORGET, READDIR = 42, 28
ROOT, FILE = 1, 2
READ_MAX = 1 << 17
FUSE_INIT_EXT, FUSE_PASSTHROUGH_2 = 1 << 30, 1 << 5
FOPEN_DIRECT_IO, FOPEN_KEEP_CACHE, FOPEN_PASSTHROUGH = 1, 2, 1 << 7
BACKING_OPEN = 1 << 30 | 16 << 16 | 229 << 8 | 1  # FUSE_DEV_IOC_BACKING_OPEN

backing, point = sys.argv[1:3]
source = os.open(backing, os.O_RDONLY)
size = os.fstat(source).st_size
kept = os.pread(source, size, 0) if sys.argv[3:] == ["keep"] else None
device = os.open("/dev/fuse", os.O_RDWR)
options = f"fd={device},rootmode=40000,user_id=0,group_id=0,allow_other"
subprocess.run(["mount", "-i", "-t", "fuse", "-o", options, "passthrough", point], pass_fds=[device], check=True)


what = "".join(sys.argv[3:])
opening = {"drop": 0, "direct": FOPEN_DIRECT_IO}
passes, passed = what == "pass", []


def opened():
    """The file is opened as one that the kernel reads itself: it has a number, from the first time on."""
    try:
        if not passed:
            passed.append(fcntl.ioctl(device, BACKING_OPEN, bytearray(struct.pack("<iIQ", source, 0, 0))))
    except OSError:
        return EIO
    return struct.pack("<QIi", 0, FOPEN_PASSTHROUGH, passed[0])


def attributes(node):
    mode, length = (0o040755, 4096) if node == ROOT else (0o100644, size)
    return struct.pack("<QQQQQQIIIIIIIIII", node, length, (length + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0,
                       4096, 0)


def answer(opcode, node, body):
    if opcode == INIT:
        major, minor, readahead, flags = struct.unpack_from("<IIII", body)
        if passes:
            return struct.pack("<IIIIHHIIHHII24x", 7, min(minor, 40), readahead, FUSE_INIT_EXT, 12, 9, READ_MAX, 1, 32,
                               0, FUSE_PASSTHROUGH_2, 1)
        return struct.pack("<IIIIHHIIHH32x", 7, 31, readahead, 0, 12, 9, READ_MAX, 1, 32, 0)
    if opcode == LOOKUP:
        if node != ROOT or body.rstrip(b"\0") != b"file":
            return ENOENT
        return struct.pack("<QQQQII", FILE, 0, 0 if what == "forget" else 3600, 3600, 0, 0) + attributes(FILE)
    if opcode == READDIR:
        _, offset = struct.unpack_from("<QQ", body)
        return b"" if offset else struct.pack("<QQII8s", FILE, 1, 4, 8, b"file")
    if opcode == GETATTR:
        return struct.pack("<QII", 3600, 0, 0) + attributes(node)
    if opcode == OPEN and passes:
        return opened()
    if opcode in (OPEN, OPENDIR):
        return struct.pack("<QII", 0, opening.get(what, FOPEN_KEEP_CACHE), 0)
    if opcode == READ:
        _, offset, length = struct.unpack_from("<QQI", body)
        return os.pread(source, length, offset) if kept is None else kept[offset:offset + length]
    if opcode == STATFS:
        return struct.pack("<QQQQQIIII24x", 1, 0, 0, 2, 0, 4096, 255, 4096, 0)
    if opcode in (RELEASE, RELEASEDIR, FLUSH, FSYNC):
        return b""
    return ENOSYS


first = True
while True:
    try:
        request = os.read(device, READ_MAX + 4096)
    except OSError:
        sys.exit(0)  # unmounted
    _, opcode, unique, node = struct.unpack_from("<IIQQ", request)
    if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
        continue
    reply = answer(opcode, node, request[40:])
    error, data = (-reply, b"") if isinstance(reply, int) else (0, reply)
    os.write(device, struct.pack("<IiQ", 16 + len(data), error, unique) + data)
    if first:
        first = False
        print("ready", flush=True)
