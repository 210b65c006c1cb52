"""The messages of the protocol as lines of flat JSON."""

import json
import platform
import sys
from importlib.metadata import version

PROTOCOL = 1
CONTENDER = "python-data"
VERSION = "0.1.0"
LIBRARIES = ["numpy", "pyarrow", "polars", "pandas", "lz4", "rapidgzip"]


def hello():
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    runtime = f"{platform.python_implementation()} {platform.python_version()}, {libraries}"
    tell(line("hello", protocol=PROTOCOL, contender=CONTENDER, version=VERSION, runtime=runtime))


def method(listed):
    kinds = {"decodes": [listed.decodes]} if listed.decodes else {}
    tell(line("method", method=listed.name, scans=listed.scans, params=[param._asdict() for param in listed.params],
              about=listed.about, cache="through", **kinds))


def ready(params):
    tell(line("ready", params=params))


def samples(taken):
    tell("".join(line("sample", **sample) for sample in taken) + line("done", count=len(taken)))


def unavailable(reason):
    tell(line("unavailable", reason=reason))


def failed(reason):
    # Arguments that are not text have surrogates, which JSON cannot represent.
    tell(line("failed", reason=reason.encode("utf-8", "replace").decode()))


def line(word, **fields):
    return json.dumps({"say": word, **fields}, separators=(",", ":")) + "\n"


def tell(lines):
    sys.stdout.write(lines)
    sys.stdout.flush()
