"""The messages of the protocol as lines of flat JSON."""

import json
import platform
import sys

PROTOCOL = 1
CONTENDER = "python"
VERSION = "0.1.0"


def hello():
    runtime = f"{platform.python_implementation()} {platform.python_version()}, {platform.python_compiler()}"
    tell(line("hello", protocol=PROTOCOL, contender=CONTENDER, version=VERSION, runtime=runtime))


def method(listed):
    fields = {"method": listed.name, "scans": listed.scans, "params": [param._asdict() for param in listed.params],
              "about": listed.about, "cache": "through"}
    if listed.parts:
        fields["parts"] = True
    if listed.reads != "file":
        fields["reads"] = listed.reads
    if listed.reads == "url":
        fields["tls"] = True
    if listed.decodes:
        fields["decodes"] = [listed.decodes]
    if listed.unavailable:
        fields["unavailable"] = listed.unavailable
    tell(line("method", **fields))


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
