"""The cause of a failure as one line. Exceptions of the libraries are chains, whose outer links have
the whole URL in their text; the cause is the innermost link that says something, without a query.
"""

import re
import ssl

LENGTH_MAX = 300
LINKS_MAX = 20


class Unexpected(Exception):
    """A response that is not what was requested; the text has the reason, which has no secret."""


def cause(failure):
    links = chain(failure)
    for link in links:
        if isinstance(link, Unexpected):
            return one_line(str(link))
        status = status_of(link)
        if status:
            return status
    for link in reversed(links):
        if isinstance(link, ssl.SSLCertVerificationError):
            return f"the certificate is refused: {link.verify_message}"
        if isinstance(link, OSError) and isinstance(link.strerror, str):
            return one_line(link.strerror)
    return one_line(str(links[-1])) or type(links[-1]).__name__


def status_of(link):
    """`404 NoSuchKey`, if it is a ClientError of botocore, which the sessions of URLs do not import."""
    response = getattr(link, "response", None)
    if not isinstance(response, dict) or "ResponseMetadata" not in response:
        return None
    status = response["ResponseMetadata"].get("HTTPStatusCode", "")
    code = response.get("Error", {}).get("Code", "")
    return one_line(str(status) if str(status) == code else f"{status} {code}")


def chain(failure):
    """The failure and what it was raised for, outermost first."""
    links = []
    while failure is not None and failure not in links and len(links) < LINKS_MAX:
        links.append(failure)
        failure = inner(failure)
    return links


def inner(failure):
    """Some libraries link their exceptions by an attribute or an argument."""
    candidates = [failure.__cause__, getattr(failure, "reason", None), *failure.args[-1:], failure.__context__]
    return next((each for each in candidates if isinstance(each, BaseException)), None)


def one_line(text):
    """In one line, and without the query of a URL that may be in it."""
    return re.sub(r"\?\S*", "?…", " ".join(text.split()))[:LENGTH_MAX]
