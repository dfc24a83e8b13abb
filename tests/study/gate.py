"""A brain that waits: so that a run is in the middle of its study whenever a test says so, on any machine."""

from __future__ import annotations

import itertools
import os
import threading
from pathlib import Path

from players.scripted import RandomBrain

GATE = "WOLFBUS_TEST_GATE"
"""Names a file; until it is there, those of a process's brains that are not among its first ones wait."""
FREE = 13
"""Brains of a process that never wait: three games' of four seats, and one that is made to see that it can be."""

_numbers = itertools.count()


class Gated(RandomBrain):
    """Answers as `RandomBrain` does, but perhaps later."""

    quick = False

    def __init__(self) -> None:
        super().__init__()
        self._waits = next(_numbers) >= FREE

    def answer(self, ask, view, /):
        """Answer, once the gate is open."""
        gate = os.environ.get(GATE)
        while gate is not None and self._waits and not Path(gate).exists():
            threading.Event().wait(0.005)
        return super().answer(ask, view)
