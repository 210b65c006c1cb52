"""The methods that return lines. An unterminated last line counts."""


def of_text(request):
    """Universal newlines, the default: a CR without LF ends a line as well. Malformed UTF-8 is replaced."""
    with open(request.path, encoding="utf-8", errors="replace", buffering=buffering(request)) as file:
        lines = 0
        for _ in file:
            lines += 1
    return {"lines": lines}


def of_binary(request):
    with open(request.path, "rb", buffering=buffering(request)) as file:
        lines = 0
        for _ in file:
            lines += 1
    return {"lines": lines}


def buffering(request):
    """The size for `open`, where 0 would mean no buffer and 1 a size of its own choice."""
    return max(request.params["buffer_bytes"], 2) if request.params["buffer_bytes"] else -1
