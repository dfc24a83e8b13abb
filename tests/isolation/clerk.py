"""Whoever types ``wolfbus tickets …``, and what the tickets hold."""

from __future__ import annotations

import shlex
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from wolfbus.bus import open_bus
from wolfbus.cli import run
from wolfbus.errors import BusError
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets import read_bus


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
