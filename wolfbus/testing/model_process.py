"""A model double as a process of its own, so that its work is not counted as its client's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import urllib.request
from types import TracebackType
from typing import Any, Final, Self

from wolfbus.errors import ConfigError
from wolfbus.testing.model_behaviour import Behaviour, behaviour_of
from wolfbus.testing.model_server import LOOPBACK, serve
from wolfbus.testing.model_service import ModelStats

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
            [sys.executable, "-m", "wolfbus.testing.model_process"],
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
