"""A server of pages as a browser would meet it, and records that it serves."""

import asyncio
import contextlib
import functools
import http.client
import json
import select
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self
from unittest import mock
from urllib.parse import urlsplit

import pytest

from tests.cli_views.games import lively
from tests.record.synthetic import lines_of
from wolfbus.cli import run
from wolfbus.messages.calls import ChainAddition, ModelCall, PromptAddition
from wolfbus.messages.events import AnsweredBid, Opened
from wolfbus.record.line import Recorded
from wolfbus.record.reader import read_record
from wolfbus.stage.serving import Served, StageServer

PROMPT = "prompt-of-Ada"


@functools.cache
def sealed(seed: str = "7") -> tuple[tuple[Recorded, ...], tuple[bytes, ...]]:
    """A lively game with a model call in it, as sealed lines."""
    lines = lines_of(with_call(lively(seed)))
    return tuple(read_record(lines)), tuple(lines)


def with_call(game: Sequence[Recorded]) -> Iterator[Recorded]:
    """The game with a call by Ada's agent, right before her first bid."""
    bids = (recorded.n for recorded in game if isinstance(recorded.event, AnsweredBid) and recorded.event.seat == "Ada")
    place = next(bids) - 1
    added = (
        PromptAddition(chains=(ChainAddition(role="system", texts=(PROMPT,)),)),
        ModelCall(
            requests=("1/debate/1/bid/Ada",),
            seat="Ada",
            kind="bid",
            model="model-of-Ada",
            prompt=(0,),
            attempts=1,
            queue_s=0,
            latency_s=1.5,
            reply="reply-of-Ada",
        ),
    )
    events = [(recorded.audience, recorded.event) for recorded in game]
    events[place:place] = [("researchers", event) for event in added]
    for number, (audience, event) in enumerate(events, 1):
        yield Recorded(number, number / 4, audience, event)


def names() -> tuple[str, ...]:
    opened = sealed()[0][0].event
    assert isinstance(opened, Opened)
    return tuple(seat.name for seat in opened.seats)


def server(root: Path, *, public: bool = False, port: int = 0) -> StageServer:
    return StageServer(Served(root, public=public), port=port)


@contextlib.contextmanager
def viewed(root: Path, *words: str) -> Iterator[str]:
    """Serve what `wolfbus view` serves of a folder; gives the address."""
    servers: list[StageServer] = []
    with mock.patch.object(StageServer, "run", lambda server, _ready: servers.append(server)):
        assert run(["view", str(root), "--port", "0", "--no-open", *words]) == 0
    with servers[0] as stage:
        yield stage.url


def fetched(url: str, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, dict, bytes]:
    """One request: status, headers, body."""
    parts = urlsplit(url)
    sent = None if body is None else json.dumps(body).encode()
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    with contextlib.closing(http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)) as connection:
        connection.request(method, path, sent, fields)
        with connection.getresponse() as response:
            return response.status, dict(response.getheaders()), response.read()


def data(url: str, path: str, **headers: str) -> Any:
    status, _, body = fetched(url, path, **headers)
    assert status == 200, body
    return json.loads(body)


def leave(url: str, path: str) -> None:
    """Ask for something, and be gone before it comes."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname or "", parts.port or 0)) as leaving:
        leaving.sendall(f"GET {path} HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n".encode())
        select.select([leaving], [], [], 0.05)


def slowed(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Make all work of the server's threads take a while; what went on whenever one more piece of it began."""
    in_thread, working, seen = asyncio.to_thread, [], []

    def slowly(work: Callable[..., Any], *arguments: Any) -> Any:
        working.append(work.__name__)
        seen.append(list(working))
        done = work(*arguments)
        time.sleep(0.1)
        working.remove(work.__name__)
        return done

    async def slow(work: Callable[..., Any], *arguments: Any) -> Any:
        return await in_thread(slowly, work, *arguments)

    monkeypatch.setattr(asyncio, "to_thread", slow)
    return seen


class Events:
    """A stream of events, read one by one as they come."""

    def __init__(self, url: str, path: str, **headers: str) -> None:
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._connection.request(
            "GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()}
        )
        self._response = self._connection.getresponse()
        assert self._response.status == 200, self._response.read()
        self.raw = b""

    def __iter__(self) -> Iterator[tuple[str, int | None, Any]]:
        name, line, value = "", None, None
        while received := self._response.readline():
            self.raw += received
            word, _, rest = received.decode().rstrip("\n").partition(": ")
            if word == "event":
                name = rest
            elif word == "id":
                line = int(rest)
            elif word == "data":
                value = json.loads(rest)
            elif not word and value is not None:
                yield name, line, value
                name, line, value = "", None, None

    def close(self) -> None:
        self._response.close()
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
