"""The request of one session: a method, the work and the scan, the path, and every parameter in
force.
"""

import os

from methods import METHODS
from refusal import Refusal


class Request:
    def __init__(self, method, work, target):
        self.method = method
        self.work = work
        # The exact bytes: arguments that are not text in the locale's encoding have surrogates.
        self.path = os.fsencode(target)
        self.params = {param.name: param.default for param in method.params}

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
        request = Request(method, work, target)
        for word in words[4:]:
            request.set(word)
        return request

    def set(self, word):
        """Sets one name=value."""
        name, _, digits = word.partition("=")
        param = next((param for param in self.method.params if param.name == name), None)
        if param is None:
            raise Refusal(f"{self.method.name} has no parameter '{name}'")
        number = digits.isascii() and digits.isdigit() and len(digits) < 20
        if not number or not param.min <= int(digits) <= param.max:
            raise Refusal(f"{name} must be an integer from {param.min} to {param.max}, got '{word}'")
        self.params[name] = int(digits)

    def shown(self):
        """The path for messages."""
        return self.path.decode("utf-8", "replace")
