"""The ways that hand out lines. An unterminated last line is one too."""


def of_text(request):
    """Universal newlines, the default: a CR without LF ends a line as well. What is no UTF-8 is replaced."""
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
    """The size for `open`, to which 0 would be no buffer at all and 1 one of its own choice."""
    return max(request.params["buffer_bytes"], 2) if request.params["buffer_bytes"] else -1
