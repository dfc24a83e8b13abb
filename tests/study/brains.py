"""Brains for tests of runs: one that waits, so that a run is in the middle of its study whenever a test says so, on any
machine; and brains that end, or break, the process that plays them, or its moderator.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import threading
from pathlib import Path

from players.scripted import RandomBrain
from wolfbus.agent import NO_ANSWER

GATE = "WOLFBUS_TEST_GATE"
"""Names a file; until it is there, those of a process's brains that are not among its first ones wait."""
FREE = 13
"""Brains of a process that never wait: three games' of four seats, and one that is made to see that it can be."""

ASKED = "WOLFBUS_TEST_ASKED"
"""Names the file of what was asked."""
ANSWERS = "WOLFBUS_TEST_ANSWERS"
"""How many questions a process answers; all unless it is set."""

_numbers = itertools.count()
_turns = itertools.count()


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


class Asked(RandomBrain):
    """Notes every question that it answers in a file, a line each; a process answers a few, and the others once the
    gate is open.
    """

    quick = False

    def answer(self, ask, view, /):
        """Answer, if it is its turn."""
        most = os.environ.get(ANSWERS)
        waits = most is not None and next(_turns) >= int(most)
        while waits and not Path(os.environ[GATE]).exists():
            threading.Event().wait(0.005)
        with Path(os.environ[ASKED]).open("a") as file:
            file.write(f"{ask.id}\n")
        return super().answer(ask, view)


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


class Hangs(RandomBrain):
    """Ends its process with the first answer of all. A process that begins later gets no further than to its first
    brain, and the others wait until that is given up.
    """

    quick = False

    def __init__(self) -> None:
        super().__init__()
        gate = Path(os.environ[GATE])
        if not next(_numbers) and gate.exists():
            gate.with_suffix(".hangs").touch()
            threading.Event().wait()

    def answer(self, ask, view, /):
        """Die, or wait and answer."""
        gate = Path(os.environ[GATE])
        try:
            gate.touch(exist_ok=False)
        except FileExistsError:
            while not gate.with_suffix(".over").exists():
                threading.Event().wait(0.005)
            return super().answer(ask, view)
        os._exit(1)


class Loud(RandomBrain):
    """Has its process, and one that it starts, write to what they take for their output."""

    def __init__(self) -> None:
        super().__init__()
        os.write(1, b"loading\n")

    def answer(self, ask, view, /):
        """Answer, and say so."""
        subprocess.run(["echo", "asked"], check=True)
        return super().answer(ask, view)


class Breaks(RandomBrain):
    """Has its process find an error of its own when it begins its next game."""

    def answer(self, ask, view, /):
        """Answer, once that is done."""
        # not at the top: every process of a test that plays these brains would load it
        import pytest

        pytest.MonkeyPatch().setattr("wolfbus.running.house.EmbeddedHouse.open", lambda *_, **__: 1 / 0)
        return super().answer(ask, view)


class Upsets(RandomBrain):
    """Has the moderator find an error of its own at its next look around."""

    def answer(self, ask, view, /):
        """Answer, once that is done."""
        from wolfbus.service.lifecycle import Health

        Health.set = lambda *_, **__: 1 / 0
        return super().answer(ask, view)


class Absent(RandomBrain):
    """Lets every question of a study's first game time out."""

    quick = False

    def answer(self, ask, view, /):
        """Answer, unless it is away."""
        return NO_ANSWER if self.game.endswith("-00001") else super().answer(ask, view)
