"""A seat to ask from, and children of a few lines that misbehave in one way each."""

from __future__ import annotations

import os
import select
import shlex
import sys
import textwrap
from pathlib import Path

from players.program import process
from players.program.brain import ChildBrain
from wolfbus.config import Deadlines, GameConfig
from wolfbus.messages.events import Statement
from wolfbus.messages.requests import Ask, Private, Public, Seated
from wolfbus.view import SeatView
from wolfbus.vocabulary import Kind

NAMES = ("Ada", "Bruno", "Chloe", "Dmitri", "Esther", "Farid", "Gwen", "Hugo")

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


def command(folder: Path, code: str) -> str:
    """Return the command that runs `code` as a child; `say` and `asks` are there for it to use."""
    path = folder / "child.py"
    path.write_text(BEGINNING + textwrap.dedent(code), encoding="utf-8")
    return shlex.join([sys.executable, "-S", "-E", str(path)])


def sit(deadline: float = 60.0, **rules: object) -> SeatView:
    """Return the view of a Villager at the start of a game."""
    view = SeatView(me="Ada")
    config = GameConfig(deadlines=Deadlines(**dict.fromkeys(Deadlines.model_fields, deadline)), **rules)
    seated = Seated(game="g", seat="Ada", role="Villager", names=NAMES, config=config, brain="exec:x")
    view.hear_private(Private(n=1, after=0, fact=seated))
    return view


def hear(view: SeatView, text: str) -> None:
    """Let the view hear one more statement."""
    number = len(view.statements) + 1
    said = Statement(statement=number, round=1, phase="debate", turn=number, speaker="Bruno", text=text)
    view.hear_public(Public(n=len(view.public) + 1, fact=said))


def ask(number: int = 1, kind: Kind = "bid", deadline: float = 60.0) -> Ask:
    """Return request `number`."""
    return Ask(
        id=f"g/1/debate/{number}/{kind}/Ada",
        kind=kind,
        round=1,
        phase="debate",
        turn=number,
        legal=(*NAMES[1:], None) if kind == "vote" else None,
        deadline_s=deadline,
    )


def farewells_said() -> None:
    """Wait until every child that was sent away is gone."""
    for thread in tuple(process._leaving):
        thread.join(30)
        assert not thread.is_alive()
    assert not process._living


class Lifeline:
    """Tells when a child and all that inherited its files are gone: they hold the other end of a named pipe."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "lifeline"
        os.mkfifo(self.path)
        self._end = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

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


def bid_of(brain: ChildBrain, view: SeatView, number: int = 1) -> int | None:
    """Return what the child bids in request `number`; None for no usable answer."""
    answer = brain.answer(ask(number), view)
    return None if answer.content is None else answer.content.bid
