BUFFER_BYTES = 65536  # = buffer_bytes


def newlines(path):
    """Counts newlines, read by read into one bytearray."""
    buffer = bytearray(BUFFER_BYTES)
    with open(path, "rb", buffering=0) as file:
        count = 0
        while length := file.readinto(buffer):
            count += buffer.count(b"\n", 0, length)
        return count
