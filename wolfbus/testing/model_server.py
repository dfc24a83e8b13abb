"""A model double: a real HTTP server that speaks OpenAI's protocol, plays plausibly, and misbehaves on request.

It runs in a thread, or in a process of its own, so that its work is not counted as its client's.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import Any, Final, Self

from wolfbus.closable import Closable
from wolfbus.errors import ConfigError
from wolfbus.testing.model_behaviour import Behaviour, behaviour_of
from wolfbus.testing.model_service import PATIENCE_S, ModelService, ModelStats

LOOPBACK: Final = "127.0.0.1"


class ModelServer(ModelService, Closable):
    """A double in a thread of its own. A context manager, or `start` and `close`.

    Its answers are a pure function of its seed and a request's messages, so the same game is answered alike.

    Args:
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        traits: how it behaves, by the fields of `Behaviour`.

    Raises:
        ConfigError: a trait that makes no sense.
    """

    def __init__(self, *, host: str = LOOPBACK, port: int = 0, **traits: Any) -> None:
        super().__init__(behaviour_of(traits), host, port)
        self._traits = traits
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def wait(self, ready: Callable[[ModelStats], bool], timeout_s: float = PATIENCE_S) -> bool:
        """Wait until what it counted is as it should be; False if that takes too long."""
        with self.changed:
            return self.changed.wait_for(lambda: ready(self.stats()), timeout_s)

    def behave(self, **traits: Any) -> None:
        """Change some traits from the next request on.

        Raises:
            ConfigError: a trait that makes no sense.
        """
        self._traits |= traits
        self.behaviour = behaviour_of(self._traits)

    def down(self) -> None:
        """Break all connections and refuse new ones, as a server that went down."""
        self._run(self.hang_up())

    def up(self) -> None:
        """Listen again, on the same port."""
        self._run(self.listen())

    def start(self) -> Self:
        """Start it; returns when it listens.

        Raises:
            ConfigError: the address cannot be listened on.
        """
        if self._thread is None:
            started: Future[str] = Future()
            self._thread = threading.Thread(target=self._main, args=(started,), name="model-double", daemon=True)
            self._thread.start()
            try:
                started.result()
            except ConfigError:
                self.close()
                raise
        return self

    def close(self) -> None:
        """Break all connections and end."""
        if self._thread is not None and self._loop is not None:
            with contextlib.suppress(RuntimeError):  # it has ended by itself
                self._loop.call_soon_threadsafe(self.stop)
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def _main(self, started: Future[str]) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            await self.run(started.set_result)

        try:
            asyncio.run(main())
        except ConfigError as error:
            started.set_exception(error)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something on the server's loop."""
        if self._loop is None or self._thread is None:
            work.close()
            raise ConfigError("the fake model is not running")
        asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_S)


def serve(behaviour: Behaviour, host: str, port: int, ready: Callable[[str], None]) -> ModelStats:
    """Run a double in this thread, the main one, until SIGINT or SIGTERM comes.

    Args:
        behaviour: how it behaves.
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        ready: called with the base URL when it listens.

    Returns:
        What it counted.

    Raises:
        ConfigError: the address cannot be listened on.
    """
    service = ModelService(behaviour, host, port)

    async def main() -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            # where a loop takes no signals, as on Windows, Ctrl-C comes as an exception instead
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, service.stop)
        await service.run(ready)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
    return service.stats()


class ModelProcess(Closable):
    """A double in a child process, which ends with its parent, however that ends. A context manager.

    Args:
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        traits: how it behaves, by the fields of `Behaviour`.

    Attributes:
        url: the base URL for a client, once it has started.

    Raises:
        ConfigError: a trait that makes no sense.
    """

    def __init__(self, *, host: str = LOOPBACK, port: int = 0, **traits: Any) -> None:
        self._told = {"host": host, "port": port, "behaviour": behaviour_of(traits).model_dump(mode="json")}
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._process.pid if self._process is not None else None

    def stats(self) -> ModelStats:
        """Return what it counted so far."""
        return ModelStats(**self._ask("GET", "/stats"))

    def reset(self) -> None:
        """Let it count anew, with an empty cache."""
        self._ask("POST", "/reset")

    def __enter__(self) -> Self:
        """Start it; returns when it listens.

        Raises:
            ConfigError: it does not start; the line says why.
        """
        # Its own session: Ctrl-C ends the parent first, which then ends the child.
        command = [sys.executable, "-m", "wolfbus.testing.model_server"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603 - this very module
            command, stdin=pipe, stdout=pipe, text=True, start_new_session=True
        )
        told, said = self._process.stdin, self._process.stdout
        if told is None or said is None:
            raise ConfigError("the fake model has no pipes")
        told.write(f"{json.dumps(self._told)}\n")
        told.flush()
        answer = json.loads(said.readline() or '{"error": "the fake model ended before it listened"}')
        if "url" not in answer:
            self.close()
            raise ConfigError(answer["error"])
        self.url = answer["url"]
        return self

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=PATIENCE_S)
            self._process = None

    def _ask(self, method: str, path: str) -> dict[str, Any]:
        url = self.url.removesuffix("/v1") + path
        request = urllib.request.Request(url, method=method)  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:  # noqa: S310
            told: dict[str, Any] = json.load(response)
        return told


def main() -> None:
    """Be the child: what to do comes as one line of JSON, the URL or an error goes out as another."""

    def say(**said: str) -> None:
        sys.stdout.write(f"{json.dumps(said)}\n")
        sys.stdout.flush()

    def end_with_parent() -> None:
        # the parent's end of the pipe closes by its exit, or because the parent is no more
        sys.stdin.read()
        os._exit(0)

    told = json.loads(sys.stdin.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        serve(Behaviour(**told["behaviour"]), told["host"], told["port"], lambda url: say(url=url))
    except ConfigError as error:
        say(error=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
