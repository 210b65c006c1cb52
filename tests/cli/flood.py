# Requests a URL over so many connections at once, and prints how many bytes came in five seconds: `flood.py URL COUNT`.
import selectors, socket, sys, time
host, path = sys.argv[1].split('/', 3)[2:]
name, port = host.split(':')
waiting, got, end = selectors.DefaultSelector(), 0, time.monotonic() + 5
for _ in range(int(sys.argv[2])):
    one = socket.create_connection((name, int(port)))
    try:
        one.sendall(f'GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n'.encode())
    except OSError:
        continue
    waiting.register(one, selectors.EVENT_READ)
while waiting.get_map() and time.monotonic() < end:
    for ready, _ in waiting.select(0.1):
        try:
            more = ready.fileobj.recv(65536)
        except OSError:
            more = b''
        got += len(more)
        if not more:
            waiting.unregister(ready.fileobj)
print(got)
