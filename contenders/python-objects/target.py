"""What is read: an object of an S3 store, or a URL. `shown` is its name in messages, without a secret."""

from urllib.parse import urlsplit

import environment


class Object:
    def __init__(self, words):
        """s3://BUCKET/KEY, with the key as it is: nothing in it is decoded."""
        scheme, _, path = words.partition("://")
        self.bucket, _, self.key = path.partition("/")
        if scheme != "s3" or not self.bucket or not self.key:
            raise ValueError("not an object")
        self.shown = words


class Url:
    def __init__(self, words):
        """`-` stands for a URL that is a secret: it is in the environment."""
        self.text = environment.secret_target() if words == "-" else words
        parts = urlsplit(self.text)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("not a URL of a server")
        self.secure = parts.scheme == "https"
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
