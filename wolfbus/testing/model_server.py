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
from types import TracebackType
from typing import Any, Final, Self

from wolfbus.errors import ConfigError
from wolfbus.testing.model_behaviour import Behaviour, behaviour_of
from wolfbus.testing.model_service import PATIENCE_S, ModelService, ModelStats

LOOPBACK: Final = "127.0.0.1"


class ModelServer:
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
        self._traits = traits
        self._host = host
        self._port = port
        self._service = ModelService(behaviour_of(traits))
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end = asyncio.Event()
        self._ready = threading.Event()
        self._failure: OSError | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port it listens on, once it has started."""
        return self._port

    @property
    def url(self) -> str:
        """The base URL for a client, once it has started: ``http://HOST:PORT/v1``."""
        return base_url(self._host, self._port)

    def stats(self) -> ModelStats:
        """Return what it counted so far."""
        return self._service.stats()

    def wait(self, ready: Callable[[ModelStats], bool], timeout_s: float = PATIENCE_S) -> bool:
        """Wait until what it counted is as it should be; False if that takes too long."""
        with self._service.changed:
            return self._service.changed.wait_for(lambda: ready(self.stats()), timeout_s)

    def behave(self, **traits: Any) -> None:
        """Change some traits from the next request on.

        Raises:
            ConfigError: a trait that makes no sense.
        """
        self._traits = {**self._traits, **traits}
        self._service.behaviour = behaviour_of(self._traits)

    def down(self) -> None:
        """Break all connections and refuse new ones, as a server that went down."""
        self._run(self._service.down())

    def up(self) -> None:
        """Listen again, on the same port."""
        self._run(self._service.up())

    def start(self) -> Self:
        """Start it; returns when it listens.

        Raises:
            ConfigError: the address cannot be listened on.
        """
        if self._thread is None:
            self._ready.clear()
            self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="model-double", daemon=True)
            self._thread.start()
            self._ready.wait()
            if self._failure is not None:
                self._thread.join()
                self._thread = None
                raise _unusable(self._host, self._port, self._failure)
        return self

    def close(self) -> None:
        """Break all connections and end."""
        if self._thread is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()
            self._thread = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = asyncio.Event()
        self._failure = None
        try:
            self._port = await self._service.open(self._host, self._port)
        except OSError as failure:
            self._failure = failure
            return
        finally:
            self._ready.set()
        await self._end.wait()
        await self._service.close()

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
    service = ModelService(behaviour)

    async def main() -> None:
        end = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            # where a loop takes no signals, as on Windows, Ctrl-C comes as an exception instead
            with contextlib.suppress(NotImplementedError):
                asyncio.get_running_loop().add_signal_handler(number, end.set)
        try:
            bound = await service.open(host, port)
        except OSError as failure:
            raise _unusable(host, port, failure) from None
        try:
            ready(base_url(host, bound))
            await end.wait()
        finally:
            await service.close()

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main())
    return service.stats()


def base_url(host: str, port: int) -> str:
    """Return the URL at which clients find a double that listens there."""
    named = {"0.0.0.0": LOOPBACK, "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104 - to show it
    return f"http://{named}:{port}/v1"


def _unusable(host: str, port: int, failure: OSError) -> ConfigError:
    return ConfigError(f"fake model: cannot listen on {host}:{port}: {failure.strerror or failure}")


_PATIENCE_S: Final = 10.0


class ModelProcess:
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
        self._process = subprocess.Popen(
            [sys.executable, "-m", "wolfbus.testing.model_server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        told, said = self._process.stdin, self._process.stdout
        if told is None or said is None:
            raise ConfigError("the fake model has no pipes")
        told.write(f"{json.dumps(self._told)}\n")
        told.flush()
        answer = json.loads(said.readline() or '{"error": "the fake model ended before it listened"}')
        if "url" not in answer:
            self.__exit__(None, None, None)
            raise ConfigError(answer["error"])
        self.url = answer["url"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.communicate(timeout=_PATIENCE_S)
            self._process = None

    def _ask(self, method: str, path: str) -> dict[str, Any]:
        url = self.url.removesuffix("/v1") + path
        request = urllib.request.Request(url, method=method)  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as response:  # noqa: S310
            told: dict[str, Any] = json.load(response)
        return told


def _end_with_parent() -> None:
    """End this process when the parent's end of the pipe closes: by its exit, or because the parent is no more."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    """Be the child: what to do comes as one line of JSON, the URL goes out as another."""
    told = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        serve(Behaviour(**told["behaviour"]), told["host"], told["port"], lambda url: _say({"url": url}))
    except ConfigError as error:
        _say({"error": str(error)})
        sys.exit(1)


def _say(what: dict[str, str]) -> None:
    sys.stdout.write(f"{json.dumps(what)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
