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
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Self

from wolfbus.closable import Closable
from wolfbus.errors import ConfigError
from wolfbus.testing.model_behaviour import Behaviour, behaviour_of
from wolfbus.testing.model_service import LOOPBACK, PATIENCE_S, ModelService, ModelStats


class ModelServer(ModelService, Closable):
    """A double in a thread of its own; a context manager.

    Args:
        traits: how it behaves, by the fields of `Behaviour`.

    Raises:
        ConfigError: a trait that makes no sense.
    """

    def __init__(self, **traits: Any) -> None:
        super().__init__(behaviour_of(traits), LOOPBACK, 0)
        self._loop = asyncio.new_event_loop()
        self._started: Future[str] = Future()
        self._thread = threading.Thread(target=self._main, name="model-double", daemon=True)

    def __enter__(self) -> Self:
        """Start it; returns when it listens."""
        self._thread.start()
        self._started.result()
        return self

    def close(self) -> None:
        """Break all connections and end."""
        with contextlib.suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self.stop)
        self._thread.join()

    def _main(self) -> None:
        try:
            self._loop.run_until_complete(self.run(self._started.set_result))
        except ConfigError as error:
            self._started.set_exception(error)
        finally:
            self._loop.close()


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
        traits: how it behaves, by the fields of `Behaviour`.

    Attributes:
        url: the base URL for a client, once it has started.

    Raises:
        ConfigError: a trait that makes no sense.
    """

    def __init__(self, **traits: Any) -> None:
        self._behaviour = behaviour_of(traits)
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._process.pid if self._process is not None else None

    def stats(self) -> ModelStats:
        """Return what it counted so far."""
        url = f"{self.url.removesuffix('/v1')}/stats"
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as response:  # noqa: S310 - our own server
            return ModelStats(**json.load(response))

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
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise ConfigError("the fake model has no pipes")
        stdin.write(f"{self._behaviour.model_dump_json()}\n")
        stdin.flush()
        answer = json.loads(stdout.readline() or '{"error": "the fake model ended before it listened"}')
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


def main() -> None:
    """Run as the child: its behaviour comes as one line of JSON, the URL or an error goes out as another."""

    def say(**answer: str) -> None:
        sys.stdout.write(f"{json.dumps(answer)}\n")
        sys.stdout.flush()

    def end_with_parent() -> None:
        # the parent's end of the pipe closes by its exit, or because the parent is no more
        sys.stdin.read()
        os._exit(0)

    behaviour = Behaviour.model_validate_json(sys.stdin.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        serve(behaviour, LOOPBACK, 0, lambda url: say(url=url))
    except ConfigError as error:
        say(error=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
