"""A model double as a process of its own, so that its work is not counted as its client's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.request
from types import TracebackType
from typing import Any, Final, Self, Unpack

from wolfbus.errors import ConfigError
from wolfbus.testing.model_behaviour import Behaviour, Traits, behaviour_of
from wolfbus.testing.model_ledger import ModelStats
from wolfbus.testing.model_server import LOOPBACK, serve

_PATIENCE_S: Final = 10.0


class ModelProcess:
    """A double in a child process, which ends with its parent, however that ends. A context manager.

    Args:
        host: address to listen on.
        port: port to listen on; 0 takes a free one.
        traits: how it behaves, by the fields of `Behaviour`.

    Raises:
        ConfigError: a trait that makes no sense.
    """

    def __init__(self, *, host: str = LOOPBACK, port: int = 0, **traits: Unpack[Traits]) -> None:
        self._told = {"host": host, "port": port, "behaviour": behaviour_of(traits).model_dump(mode="json")}
        self._process: subprocess.Popen[str] | None = None
        self.url = ""

    def start(self) -> Self:
        """Start it; returns when it listens, and `url` is the base URL for a client.

        Raises:
            ConfigError: it does not start; the line says why.
        """
        if self._process is not None:
            return self
        command = [sys.executable, "-m", "wolfbus.testing.model_process"]
        # Its own session: Ctrl-C ends the parent first, which then ends the child.
        self._process = subprocess.Popen(  # noqa: S603 - words of our own, and no shell
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        _, said = self._pipes()
        self._tell(json.dumps(self._told))
        answer: dict[str, str] = json.loads(said.readline() or '{"error": "the fake model ended before it listened"}')
        if "url" not in answer:
            self.close()
            raise ConfigError(answer["error"])
        self.url = answer["url"]
        return self

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

    def close(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_PATIENCE_S)
            for pipe in self._pipes():
                pipe.close()
            self._process = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _pipes(self) -> tuple[Any, Any]:
        if self._process is None or self._process.stdin is None or self._process.stdout is None:
            raise ConfigError("the fake model is not running")
        return self._process.stdin, self._process.stdout

    def _tell(self, line: str) -> None:
        told, _ = self._pipes()
        told.write(f"{line}\n")
        told.flush()

    def _ask(self, method: str, path: str) -> dict[str, Any]:
        url = self.url.removesuffix("/v1") + path
        request = urllib.request.Request(url, method=method)  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=_PATIENCE_S) as response:  # noqa: S310
            told: dict[str, Any] = json.load(response)
        return told


def _end_with_parent() -> None:
    """End this process when the parent's end of the pipe closes: by `close`, or because the parent is no more."""
    sys.stdin.read()
    os._exit(0)


def main() -> None:
    """Be the child: what to do comes as one line of JSON, the URL goes out as another."""

    def say(**what: str) -> None:
        sys.stdout.write(f"{json.dumps(what)}\n")
        sys.stdout.flush()

    told = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        serve(Behaviour(**told["behaviour"]), told["host"], told["port"], lambda url: say(url=url))
    except ConfigError as error:
        say(error=str(error))
        sys.exit(1)


if __name__ == "__main__":
    main()
