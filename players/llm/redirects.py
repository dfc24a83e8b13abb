"""Redirects of a model server: where one leads, and whether prompts may go there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urljoin, urlsplit

from wolfbus.printable import printable

MOST_REDIRECTS: Final = 5
"""Redirects in a row that one request follows."""

_KEEP_POST: Final = frozenset({301, 302, 307, 308})
"""Statuses after which the same request may be sent elsewhere; 303 asks for another one."""
_PORTS: Final = {"http": 80, "https": 443}
_SHOWN: Final = 200


class Astray(Exception):  # noqa: N818 - what happened
    """A redirect is not followed; the text says where it leads and why not, without any secret."""


def origin_of(url: str) -> str | None:
    """Return scheme, host and port of a URL, the port only where it is not the usual one; None if it has none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in _PORTS or not parts.hostname or not parts.hostname.isprintable():
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = port is None or port == _PORTS[parts.scheme]
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{port}"


def target_of(status: int, headers: Mapping[str, str], asked: str, home: str, allowed: str | None) -> str | None:
    """Return the URL to which a response sends its request, None if it is no redirect.

    Args:
        status: of the response.
        headers: of the response.
        asked: the URL that gave it.
        home: the endpoint's own URL; its origin may be redirected to at any time.
        allowed: another origin to which the endpoint may redirect; None for no other.

    Raises:
        Astray: it is a redirect that is not followed, to another origin or to nowhere.
    """
    location = headers.get("location")
    if not 300 <= status < 400 or location is None:
        return None
    try:
        url = urljoin(asked, location)
    except ValueError:
        url = ""
    there, here = origin_of(url), origin_of(home)
    if there is None:
        raise Astray(f"{status}: a redirect to what is no address of a server")
    if there not in {here, allowed}:
        there = printable(there, _SHOWN)
        raise Astray(
            f"{status}: {here} redirects to another origin, {there}, and nothing was sent there; "
            f'to let prompts go there, write follow_redirects = "{there}" into the [endpoints] table'
        )
    if status not in _KEEP_POST:
        raise Astray(f"{status}: a redirect that a request with a prompt cannot follow")
    return url
