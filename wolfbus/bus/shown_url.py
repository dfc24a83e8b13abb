"""Bus addresses fit for printing: wherever one is told, user and password are masked here."""

from __future__ import annotations

import re
from typing import Final

MASK: Final = "***"
"""Stands for user and password."""

_OPTIONS: Final = re.compile(r"\?(?:db|patience|ssl_ca_certs)=")
_ADDRESS: Final = re.compile(r"\b(?:redis|rediss|unix)://\S+")


def shown_url(url: str) -> str:
    """Return a bus address with ``***`` for its user and password; one without them as it is.

    It need not be a right address: what may be meant for a password is taken out, rather too
    much than too little.
    """
    scheme, colon, rest = url.partition("://")
    if not colon:
        scheme, rest = "", url
    found = _OPTIONS.search(rest)
    where, options = (rest, "") if found is None else (rest[: found.start()], rest[found.start() :])
    if "@" in options and "@" not in where:
        # a password may hold a question mark too
        where, options = rest, ""
    if scheme == "unix" and where.startswith("/"):
        return url
    _, at, place = where.rpartition("@")
    return f"{scheme}{colon}{MASK + at if at else ''}{place}{options}"


def masked(text: str) -> str:
    """Return a text, such as an error's line, with every Redis address as `shown_url` shows it."""
    return _ADDRESS.sub(lambda found: shown_url(found[0]), text)
