"""Who may ask a server of pages, and how it answers: requests refused unread, headers, JSON, refusals, events."""

from __future__ import annotations

import contextlib
import os
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from aiohttp import web

from wolfbus.stage.watched import encoded

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping

CSP: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""What a served page may load and reach: this server and nothing else."""

HEADERS: Final[dict[str, str]] = {
    "Content-Security-Policy": CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "[::1]"})


class RequestRefused(Exception):  # noqa: N818 - it is answered, and is no error of this program
    """A request is refused, with an HTTP status and one sentence."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


class Guard:
    """Tells which requests come from a page of this server.

    A page of another site can make a browser send requests here, under that site's name (rebinding) or across sites:
    so the name that was asked for has to be one of ours, and whatever changes something has to come from our page.

    Args:
        host: the address on which it listens. On others than the loopback it may be asked by any address in numbers:
            no site can be called that.
        names: names besides those of this machine's loopback by which the server may be asked, without port.
    """

    def __init__(self, host: str = "127.0.0.1", names: tuple[str, ...] = ()) -> None:
        self._hosts = _LOOPBACK | {name.lower() for name in (host, *names)}
        self._numbers = host not in _LOOPBACK

    def check(self, method: str, headers: Mapping[str, str]) -> None:
        """Raise RequestRefused for a request that comes from elsewhere."""
        host = headers.get("Host", "")
        name = _name(host)
        if name not in self._hosts and not (self._numbers and _is_address(name)):
            raise RequestRefused(
                403,
                "this server is not known by that name; ask for it by its address in numbers, as 127.0.0.1, or tell "
                "`wolfbus view --name` of it",
            )
        origin = headers.get("Origin")
        if origin is None:
            if method == "POST":
                raise RequestRefused(403, "an answer must come from a page of this server")
        elif origin.lower() not in {f"http://{host}".lower(), f"https://{host}".lower()}:
            raise RequestRefused(403, "a page of another site asks; only pages of this server may")


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _name(host: str) -> str:
    """Return a Host header's name, without its port."""
    name = host.lower()
    if name.startswith("["):
        return name.partition("]")[0] + "]"
    return name.partition(":")[0]


def answer(value: Any, status: int = 200) -> web.Response:
    """Return plain values as JSON."""
    response = web.Response(body=encoded(value), status=status, content_type="application/json", charset="utf-8")
    response.enable_compression()
    return response


def saved_as(name: str) -> dict[str, str]:
    """Return the header by which a browser keeps an answer as a file; a file's name may hold anything."""
    return {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(os.fsencode(name), safe='')}"}


def event(name: str, data: bytes, line: int | None = None) -> bytes:
    """Return a server-sent event; JSON as `encoded` writes it has no line ends."""
    head = f"event: {name}\n" + (f"id: {line}\n" if line is not None else "")
    return head.encode() + b"data: " + data + b"\n\n"


def last_line(request: web.Request) -> int:
    """Return the line up to which a browser has the events, 0 where it tells none."""
    word = request.headers.get("Last-Event-ID") or request.query.get("after") or ""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 16 else 0


async def stream(request: web.Request, events: AsyncGenerator[bytes, None]) -> web.StreamResponse:
    """Answer with server-sent events, until there are no more or nobody reads them."""
    response = web.StreamResponse(headers={**HEADERS, "Content-Type": "text/event-stream; charset=utf-8"})
    await response.prepare(request)
    async with contextlib.aclosing(events):
        with contextlib.suppress(ConnectionResetError):
            async for data in events:
                await response.write(data)
    return response
