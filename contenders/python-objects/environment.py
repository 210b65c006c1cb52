"""What the lab says about servers, in environment variables (PROTOCOL.md, "Servers")."""

import os

from failure import Unexpected

# A server that is silent for so long has failed. The defaults of the libraries are from 5 seconds to forever.
TIMEOUT_SECONDS = 20


def secret_target():
    return os.environ.get("READLAB_TARGET", "")


def etag():
    """What If-Match has, or None."""
    return os.environ.get("READLAB_ETAG") or None


def authorities():
    """The file of the certificates that are trusted, or None for those that the library trusts."""
    path = os.environ.get("READLAB_CACERT") or None
    if path and not os.path.exists(path):
        raise Unexpected("READLAB_CACERT: No such file or directory")
    return path


def endpoint():
    return os.environ.get("AWS_ENDPOINT_URL_S3") or None


def region():
    return os.environ.get("AWS_REGION") or None


def addressing_style():
    return os.environ.get("READLAB_S3_STYLE") or "auto"


def credentials():
    """Key, secret and token, or None: then requests are not signed."""
    key, secret = os.environ.get("AWS_ACCESS_KEY_ID"), os.environ.get("AWS_SECRET_ACCESS_KEY")
    return (key, secret, os.environ.get("AWS_SESSION_TOKEN") or None) if key and secret else None


def without_profiles():
    """Hides the user's files and profiles from the SDK: everything is in the other variables."""
    os.environ["AWS_CONFIG_FILE"] = os.environ["AWS_SHARED_CREDENTIALS_FILE"] = os.devnull
    for name in ("AWS_PROFILE", "AWS_DEFAULT_PROFILE"):
        os.environ.pop(name, None)
