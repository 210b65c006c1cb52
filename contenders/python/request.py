"""The request of one session: a method, the work and the scan, the target, and every parameter in force."""

import os

from files import paths_of
from methods import METHODS
from part import Part
from places import places_of
from url import Url

# The word that says that the target is a list, by what a method reads.
LIST_WORDS = {"list": "list=1", "places": "places=1"}


class Refusal(Exception):
    """The request is not possible; the text has the reason."""


class Request:
    def __init__(self, method, scan, work, target):
        self.method = method
        self.scan = scan
        self.work = work
        # The exact bytes: arguments that are not text in the locale's encoding have surrogates.
        self.path = os.fsencode(target)
        self.url = url_of(target) if method.reads == "url" else None
        # Of a list, the paths or places in it.
        self.paths = []
        self.places = None
        self.part = Part()
        self.params = {param.name: param.default for param in method.params}
        # What stays from reading to reading, of methods that keep a client.
        self.client = None

    @staticmethod
    def parse(words):
        """Reads METHOD SCAN WORK TARGET [name=value ...] and checks it against the method."""
        name, scan, work, target = words[:4]
        method = next((method for method in METHODS if method.name == name), None)
        if method is None:
            raise Refusal(f"there is no method '{name}'")
        if work not in method.scans:
            raise Refusal(f"{name} does not do the work '{work}'")
        if scan not in method.scans[work]:
            raise Refusal(f"{name} has no scan '{scan}' for {work}")
        request = Request(method, scan, work, target)
        for word in words[4:]:
            request.set(word)
        names = [word.partition("=")[0] for word in words[4:]]
        if ("start_bytes" in names) != ("length_bytes" in names):
            raise Refusal("a part needs both start_bytes and length_bytes")
        if method.reads == "places" and LIST_WORDS["places"] not in words[4:]:
            raise Refusal(f"{name} reads places, and the target is no list of them")
        request.load_list()
        return request

    def load_list(self):
        try:
            if self.method.reads == "list":
                self.paths = paths_of(self.path)
            elif self.method.reads == "places":
                self.places = places_of(self.path)
        except (OSError, ValueError) as cause:
            raise Refusal(f"{self.shown()}: {getattr(cause, 'strerror', None) or cause}") from cause

    def set(self, word):
        """Sets one name=value. That the target is a list is known from the method."""
        if word == LIST_WORDS.get(self.method.reads):
            return
        name, _, digits = word.partition("=")
        number = digits.isascii() and digits.isdigit() and len(digits) < 20
        if self.method.parts and number and name in ("start_bytes", "length_bytes"):
            setattr(self.part, name.removesuffix("_bytes"), int(digits))
            return
        param = next((param for param in self.method.params if param.name == name), None)
        if param is None:
            raise Refusal(f"{self.method.name} has no parameter '{name}'")
        if not number or not param.min <= int(digits) <= param.max:
            raise Refusal(f"{name} must be an integer from {param.min} to {param.max}, got '{word}'")
        self.params[name] = int(digits)

    def shown(self):
        """The target for messages: the path, that of the places' file, or the URL without its query."""
        if self.url:
            return self.url.shown
        return shown_path(self.places.path if self.places else self.path)


def shown_path(path):
    return path.decode("utf-8", "replace")


def url_of(target):
    try:
        return Url(target)
    except ValueError as cause:
        # Without the text of the cause, which may have parts of a secret URL.
        raise Refusal("the target is not a URL that begins with http:// or https://") from cause
