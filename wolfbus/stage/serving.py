"""`StageServer`: a server of pages, in a thread of its own or in the caller's."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from aiohttp import web

from wolfbus.errors import ConfigError, reason_of
from wolfbus.service.signals import end_signals
from wolfbus.stage import connections
from wolfbus.stage.answers import Guard
from wolfbus.stage.app import StageApp
from wolfbus.stage.library import Library, StudyReader
from wolfbus.stage.people import People
from wolfbus.stage.sources import FolderSource, GameSource

LOOPBACK: Final = "127.0.0.1"
PORT: Final = 8765
_SHUTDOWN_S: Final = 0.5
"""Seconds until streams of events, which never end by themselves, are cut off."""
_LAST_WORD_S: Final = 5.0
"""Longest wait until those who play here have been sent how their game ended."""


@dataclass(frozen=True, slots=True)
class Served:
    """What a server shows.

    Attributes:
        root: the folder of records and studies, or one record; it need not be there. None for none.
        live: where games come from that go on; None for nowhere.
        public: whether only what is public may be seen of games that go on.
        studies: computes what pages show of studies; None to show none.
        people: who plays at its pages; None for nobody.
    """

    root: Path | None = None
    live: GameSource | None = None
    public: bool = False
    studies: StudyReader | None = None
    people: People | None = None


class StageServer:
    """A server of pages; a context manager that listens in a thread of its own.

    Args:
        served: what it shows.
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        names: names besides this machine's own by which it may be asked.

    Raises:
        ConfigError: the address cannot be listened on.
    """

    def __init__(self, served: Served, host: str = LOOPBACK, port: int = PORT, names: tuple[str, ...] = ()) -> None:
        self._served = served
        self._host, self._port = host, port
        self._guard = Guard(host, names)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: asyncio.Event | None = None
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where a browser on this machine finds it."""
        host = {"0.0.0.0": LOOPBACK, "::": "[::1]"}.get(self._host, self._host)  # noqa: S104 - to show it
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self._port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="stage", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._unusable(self._failure)
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._end is not None and self._thread is not None:
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()

    def run(self, ready: Callable[[str], None]) -> None:
        """Serve in this thread, the main one, until SIGINT or one of `end_signals`.

        Args:
            ready: called with the server's address when it listens.

        Raises:
            ConfigError: the address cannot be listened on.
        """

        async def main() -> None:
            loop = asyncio.get_running_loop()
            self._end = asyncio.Event()
            for number in (signal.SIGINT, *end_signals()):
                # where a loop takes no signals, as on Windows, Ctrl-C comes as an exception instead
                with contextlib.suppress(NotImplementedError):
                    loop.add_signal_handler(number, self._end.set)
            await self._main(ready)

        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(main())
        if self._failure is not None:
            raise self._unusable(self._failure)

    async def _main(self, ready: Callable[[str], None] = lambda _: None) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = self._end or asyncio.Event()
        served, root = self._served, self._served.root
        folder = FolderSource(root, public=served.public) if root is not None else None
        sources = [source for source in (served.live, folder) if source is not None]
        seats = served.people.waiting if served.people is not None else list
        library_root = root if root is not None and root.exists() else None
        live = served.live.live if served.live is not None else None
        library = Library(library_root, live, seats, public=served.public)
        app = StageApp(sources, library, self._guard, served.studies, served.people).app()
        connected = connections.Connections()
        app.middlewares.insert(0, connected.middleware)
        runner = web.AppRunner(
            app,
            access_log=None,
            logger=connections.LOGGER,
            keepalive_timeout=connections.ASKING_S,
            shutdown_timeout=_SHUTDOWN_S,
            handler_cancellation=True,
        )
        await runner.setup()
        connected.server = runner.server
        listening: asyncio.Server | None = None
        try:
            for source in sources:
                source.start(self._loop)
            if served.people is not None:
                served.people.start(self._loop)
            listening = await connected.listen(self._host, self._port)
            self._port = listening.sockets[0].getsockname()[1]
        except OSError as failure:
            self._failure = failure
        except UnicodeError:
            # a part of it is empty or too long
            self._failure = OSError("that is no name of a machine")
        finally:
            self._ready.set()
        if self._failure is None:
            ready(self.url)
            await self._end.wait()
        if listening is not None:
            listening.close()
        library.close()
        for source in sources:
            await source.close()
        if served.people is not None:
            await served.people.all_sent(_LAST_WORD_S)
        await runner.cleanup()

    def _unusable(self, failure: OSError) -> ConfigError:
        # only of a port that is another's, or not for us, does another help
        hint = "; --port 0 takes a free port" if failure.errno in {errno.EADDRINUSE, errno.EACCES} else ""
        return ConfigError(f"the page cannot be served on {self._host}:{self._port}: {reason_of(failure)}{hint}")
