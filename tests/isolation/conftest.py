"""A Redis of its own, with tickets on: one house that matters, another beside it, and nobody else let in."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from wolfbus.bus import open_bus
from wolfbus.cli import run
from wolfbus.errors import BusError
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets import read_bus

HOUSE = "main"
WHO = "--agents ada,gone --players bruno --analytics keeper --spectator watcher"


def client(url: str) -> redis.Redis:
    """Return an ordinary redis-py client with one connection, that never sends anything twice."""
    return redis.Redis.from_url(
        url,
        protocol=2,
        socket_timeout=60,
        retry=Retry(NoBackoff(), 0),
        retry_on_error=[],
        single_connection_client=True,
    )


def exchange(one: redis.Redis, commands: Iterable[Sequence[object]]) -> list[Any]:
    """Send all commands at once; return what the server answers to each, as it stands, refusals too."""
    pipe = one.pipeline(transaction=False)
    pipe.response_callbacks = {}
    for command in commands:
        pipe.pipeline_execute_command(*command)
    return pipe.execute(raise_on_error=False)


class Clerk:
    """Whoever types ``wolfbus tickets …``."""

    def __init__(self, server: RedisServer, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._url, self._folder, self._capsys = server.url, folder, capsys

    def __call__(self, words: str, by: str = "", *, status: int = 0) -> str:
        """Run a command, with the ticket of somebody or as the user `default`; return all that it says."""
        bus = f"@{self._folder / by}.ticket" if by else self._url
        command, *rest = shlex.split(words)
        options = ["--bus", bus, *([] if command == "list" else ["--out", str(self._folder)])]
        assert run(["tickets", command, *options, *rest]) == status
        return "".join(self._capsys.readouterr())


def url_of(folder: Path, name: str) -> str:
    return read_bus(f"@{folder / name}.ticket")


def password_of(folder: Path, name: str) -> str:
    return urlsplit(url_of(folder, name)).password or ""


def opens(url: str) -> bool:
    try:
        open_bus(url).close()
    except BusError as error:
        if "does not accept this user" not in str(error):
            raise
        return False
    return True


@dataclass
class Guarded:
    """A server with tickets on.

    Attributes:
        server: the Redis.
        folder: where the tickets of `HOUSE` are.
        revoked: the address of a ticket that was revoked.
    """

    server: RedisServer
    folder: Path
    revoked: str

    def url(self, name: str) -> str:
        """Return the address in a ticket of the house."""
        return url_of(self.folder, name)

    @contextlib.contextmanager
    def login(self, name: str) -> Iterator[redis.Redis]:
        """Log in with a ticket."""
        with client(self.url(name)) as one:
            yield one


def settle(url: str, house: str, folder: Path, *words: str) -> None:
    """Issue or revoke tickets of a house, a folder each."""
    assert run(["tickets", *words, "--bus", url, "--house", house, "--out", str(folder / house)]) == 0


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    folder = tmp_path_factory.mktemp("tickets")
    # without this option the server refuses DEBUG before it looks at anybody's rights
    with RedisServer("--enable-debug-command", "yes") as server:
        guarded = Guarded(server, folder / HOUSE, "")
        settle(server.url, HOUSE, folder, "issue", *WHO.split())
        admin = guarded.url("admin")
        settle(admin, "other", folder, "issue", "--agents", "ada")
        # an agenda of the same name as the house
        agenda = ["--agenda", HOUSE, "--workers", "toiler", "--bus", admin, "--out", str(folder / HOUSE)]
        assert run(["tickets", "issue", *agenda]) == 0
        guarded.revoked = guarded.url("gone")
        settle(admin, HOUSE, folder, "revoke", "gone")
        yield guarded


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "tickets" / "main"


@pytest.fixture
def tickets(server: RedisServer, folder: Path, capsys: pytest.CaptureFixture[str]) -> Clerk:
    return Clerk(server, folder, capsys)
