"""`Connections`: who is connected to a server of pages. There are so many at most, and who asks nothing gives way."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Awaitable, Callable
from typing import Final, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from wolfbus.files.open_files import most_files

ASKING_S: Final = 20.0
"""Seconds within which a connection has asked, from its start or since it was last answered; else it is closed."""
SENDING_S: Final = 20.0
"""Seconds within which what a page sends has come."""

_MOST: Final = 1000
_AT_ONCE: Final = 64
_WAITING: Final = 1024
_WORDS: Final = b"too many are connected to this server; try again later\n"
_REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nRetry-After: 5\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_WORDS), _WORDS)
)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Connections:
    """Takes connections in for a server; used on its loop.

    Half of the files that this process may have open are left to what else it does, such as a game. Whoever comes when
    all places are taken has that of who has waited longest without asking anything; where everybody is being answered,
    it is refused.

    Attributes:
        server: what speaks HTTP with them; set before the first comes.
    """

    def __init__(self) -> None:
        self.server: web.Server | None = None
        files = most_files()
        self._at_once = max(1, min(_AT_ONCE, files // 16))
        self._most = min(_MOST, files // 2)
        self._answered: set[web.RequestHandler] = set()

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Take in who comes to an address; raises OSError where that cannot be had."""
        loop = asyncio.get_running_loop()
        # so many are taken in together, and count, or make others close, in the loop's next steps
        server = await loop.create_server(self._speak, host, port, reuse_address=True, backlog=self._at_once)
        for listening in server.sockets:
            # more may wait, or browsers that come together would try again a second later
            with socket.socket(fileno=os.dup(listening.fileno())) as same:
                same.listen(_WAITING)
        return server

    def _speak(self) -> asyncio.Protocol:
        """Return what speaks with one more."""
        if self.server is None:
            return _Refusal()
        connected = [handler for handler in self.server.connections if handler.transport is not None]
        if len(connected) >= self._most:
            waiting = next((handler for handler in connected if handler not in self._answered), None)
            if waiting is None:
                return _Refusal()
            waiting.force_close()
        return cast("asyncio.Protocol", self.server())

    @web.middleware
    async def middleware(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Take note of who is being answered, until the answer is sent."""
        connection = request.protocol
        self._answered.add(connection)
        # the task that has a request handled sends the answer, too
        task = cast("asyncio.Task[object]", asyncio.current_task())
        task.add_done_callback(lambda _: self._answered.discard(connection))
        return await handler(request)


class _Refusal(asyncio.Protocol):
    """Says that there is no place."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        stream = cast("asyncio.Transport", transport)
        stream.write(_REFUSAL)
        stream.close()


def _is_ours(record: logging.LogRecord) -> bool:
    """Whether an error is not just that of a request, which was answered so."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, HttpProcessingError | web.RequestPayloadError | ConnectionError)


LOGGER: Final = logging.getLogger("wolfbus.stage.requests")
LOGGER.addFilter(_is_ours)
