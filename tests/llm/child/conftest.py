"""Children of a few lines, a seat to ask them from, and a pipe that tells when they are gone."""

import os
import select
import shlex
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from players.spec import BrainContext, build
from tests.agents.parts import ask, seated
from wolfbus.agent import Agent
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Private

BEGINNING = """
import json, os, signal, sys
_ids = []
def say(**reply):
    sys.stdout.write(json.dumps({"id": (_ids or [None])[-1], **reply}) + "\\n")
    sys.stdout.flush()
def asks():
    for line in sys.stdin:
        ask = json.loads(line)
        if ask["type"] == "ask":
            _ids.append(ask["id"])
            yield ask
"""


def command(folder: Path, code: str, name: str = "child") -> str:
    """Return the command that runs `code` as a child; `say` and `asks` are there for it to use."""
    path = folder / f"{name}.py"
    path.write_text(BEGINNING + textwrap.dedent(code), encoding="utf-8")
    return shlex.join([sys.executable, "-S", "-E", str(path)])


def sit(deadline: float = 60.0) -> SeatView:
    """Return the view of a Villager at the start of a game."""
    view = SeatView(me="Ada")
    config = GameConfig(deadlines=Deadlines(**dict.fromkeys(Deadlines.model_fields, deadline)))
    view.hear_private(Private(n=1, after=0, fact=seated(config=config)))
    return view


def bid_of(brain: Agent, view: SeatView, number: int = 1) -> int | None:
    """Return what the child bids in request `number`; None for no usable answer."""
    content: Any = brain.answer(ask("bid", number), view).content
    return None if content is None else content.bid


def farewells_said() -> None:
    """Wait until every child that was sent away is gone."""
    for thread in threading.enumerate():
        if thread.name.startswith("farewell-"):
            thread.join(60)
            assert not thread.is_alive()


class Lifeline:
    """Tells when a child and all that inherited its files are gone: they hold the other end of a named pipe."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lifeline"
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)
        self.code = f"line = os.open({str(self.path)!r}, os.O_WRONLY)"
        """Has a child hold it."""

    def word(self) -> None:
        """Wait until the child writes a byte to it."""
        assert self._read() == b"!"

    def wait(self) -> None:
        """Wait until somebody has held it and nobody does any more."""
        while self._read():
            continue
        os.close(self._end)

    def _read(self) -> bytes:
        # before anybody has opened it, reading would find the end at once; polling waits
        poll = select.poll()
        poll.register(self._end, select.POLLIN)
        poll.poll()
        return os.read(self._end, 1)


@pytest.fixture(autouse=True)
def _hasty_farewells(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("players.program.process.GRACE_S", 0.2)
    yield
    farewells_said()


@pytest.fixture
def brain_of(tmp_path: Path) -> Iterator[Callable[..., Agent]]:
    """Makes brains whose child runs some code, with further words on its command line, and closes them."""
    brains: list[Agent] = []

    def make(code: str, words: str = "") -> Agent:
        brains.append(build(f"exec:{command(tmp_path, code)}{words}", BrainContext(logs=tmp_path / "logs")))
        return brains[-1]

    yield make
    for brain in brains:
        brain.close()
