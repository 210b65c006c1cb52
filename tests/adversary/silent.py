# Mounts a file system at a folder, as long as it runs: `silent.py FOLDER WHAT [FILE]`. It has a file `f` and a folder
# `d` with another one, both with the content of FILE, or lines. WHAT is what its program does not answer: `nothing` is
# answered, or all requests are taken and those for a name (`lookup`), those that open a file (`open`), those that read
# one (`read`) or its second half (`end`), those for the names of a folder (`entries`) or of `d` (`below`) get no answer;
# or none gets one from the first reading of the second half on, not even for closing a file (`rest`), or once as many
# requests as WHAT says were answered; or all do (`none`). Who waits for what was taken cannot be killed.
import ctypes, os, struct, sys
fd = os.open('/dev/fuse', os.O_RDWR)
words = f'fd={fd},rootmode=40000,user_id=0,group_id=0'.encode()
if ctypes.CDLL(None).mount(b'silent', sys.argv[1].encode(), b'fuse', 0, words):
    sys.exit(1)
print('ready', flush=True)
what = sys.argv[2]
if what == 'nothing':
    sys.stdin.read()
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, FLUSH = 1, 2, 3, 14, 15, 17, 25
INIT, READDIR, INTERRUPT, FORGETS = 26, 28, 36, 42
kinds = {'lookup': LOOKUP, 'open': OPEN, 'read': READ, 'entries': READDIR}
unanswered = {FORGET, INTERRUPT, FORGETS, kinds.get(what)}
left = int(what) if what.isdigit() else None
# What was said of a name or a file is asked for again where requests are counted.
VALID_S = 60 if left is None else 0
content = b'\n' * (1 << 20)
if len(sys.argv) > 3:
    with open(sys.argv[3], 'rb') as file:
        content = file.read()
SIZE = len(content)
ROOT, FILE, FOLDER, BELOW = 1, 2, 3, 4
folders = {ROOT: [(b'f', FILE), (b'd', FOLDER)], FOLDER: [(b'f', BELOW)]}
def status(node):
    kind = 0o40755 if node in folders else 0o100755
    return struct.pack('<6Q10I', node, SIZE, SIZE // 512, 0, 0, 0, 0, 0, 0, kind, 1, 0, 0, 0, 4096, 0)
# A name that no folder has is another one of the file.
def lookup(folder, request):
    node = dict(folders[folder]).get(request[40:].split(b'\0')[0], FILE)
    return struct.pack('<4QII', node, 0, VALID_S, VALID_S, 0, 0) + status(node)
def read(node, request):
    offset, size = struct.unpack_from('<QI', request, 48)
    return content[offset:offset + size]
def entries(node, request):
    begin = struct.unpack_from('<Q', request, 48)[0]
    packed = b''
    for index, (name, below) in list(enumerate(folders[node]))[begin:]:
        kind = 4 if below in folders else 8
        packed += struct.pack('<QQII8s', below, index + 1, len(name), kind, name)
    return packed
answers = {
    INIT: lambda node, request: struct.pack('<IIIIHHIIHH8I', 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, *[0] * 8),
    LOOKUP: lookup,
    GETATTR: lambda node, request: struct.pack('<QII', VALID_S, 0, 0) + status(node),
    READ: read,
    READDIR: entries,
    STATFS: lambda node, request: struct.pack('<5Q10I', SIZE, 0, 0, 2, 0, 4096, 255, 4096, *[0] * 7),
    # The kernel asks for it at each closing, unless it was once refused.
    FLUSH: lambda node, request: b'',
}
while True:
    request = os.read(fd, 1 << 20)
    _, asked, number, node = struct.unpack_from('<IIQQ', request)
    is_end = what == 'end' and asked == READ and struct.unpack_from('<Q', request, 48)[0] >= SIZE // 2
    is_below = what == 'below' and asked == READDIR and node == FOLDER
    if what == 'rest' and asked == READ and struct.unpack_from('<Q', request, 48)[0] >= SIZE // 2:
        left = 0
    if asked in unanswered or is_end or is_below or left == 0:
        continue
    if left is not None and asked != INIT:
        left -= 1
    answer = answers.get(asked)
    answer = answer(node, request) if answer else b''
    error = 0 if asked in answers else -38
    os.write(fd, struct.pack('<IiQ', 16 + len(answer), error, number) + answer)
