"""Brains that end, or break, the process that plays them, or its moderator."""

from __future__ import annotations

import os
from pathlib import Path

from players.scripted import RandomBrain
from tests.study.gate import GATE
from wolfbus.cli.embedded import EmbeddedHouse
from wolfbus.service.lifecycle import Health


class Dies(RandomBrain):
    """Ends its process with its first answer; from then on a process that is to make one ends at once."""

    def __init__(self) -> None:
        super().__init__()
        if Path(os.environ[GATE]).exists():
            os._exit(1)

    def answer(self, ask, view, /):
        """Leave the file that ends the others, and die."""
        Path(os.environ[GATE]).touch()
        os._exit(1)


class Breaks(RandomBrain):
    """Has its process find an error of its own when it begins its next game."""

    def answer(self, ask, view, /):
        """Answer, once that is done."""
        EmbeddedHouse.open = lambda *_: 1 / 0
        return super().answer(ask, view)


class Upsets(RandomBrain):
    """Has the moderator find an error of its own at its next look around."""

    def answer(self, ask, view, /):
        """Answer, once that is done."""
        Health.set = lambda *_, **__: 1 / 0
        return super().answer(ask, view)
