"""The commands that bring agents which a house waits for, for whoever reads that it waits."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from wolfbus.printable import printable

OUTSIDE: Final = "outside:"
"""Begins what agents are called that the operator does not run."""

_BRAIN_SHOWN: Final = 200
_COMMANDS_SHOWN: Final = 3


def missing_brains(brains: Sequence[str], seated: Sequence[str | None]) -> Counter[str]:
    """Return for how many seats of each brain there is nobody."""
    return Counter(brain for brain, agent in zip(brains, seated, strict=True) if agent is None)


def invitation(bus: str, house: str, missing: Mapping[str, int]) -> str:
    """Return in one line the commands that bring what is missing; "" for nothing.

    Args:
        bus: the bus's address, without user and password.
        house: the house's name.
        missing: seats, by the brain that is to play them.
    """
    where = f"--bus {shlex.quote(bus)} --house {house}"
    commands = [_command(where, brain, seats) for brain, seats in sorted(missing.items())]
    more = len(commands) - _COMMANDS_SHOWN
    shown = [*commands[:_COMMANDS_SHOWN], *([f"{more} more like it"] if more > 0 else [])]
    return f"; bring them with: {', and '.join(shown)}" if shown else ""


def invitation_to_anybody(bus: str, house: str, seats: int) -> str:
    """Return in one line the commands that bring agents of any kind for some seats; "" for none.

    Args:
        bus: the bus's address, without user and password.
        house: the house's name.
        seats: how many seats nobody takes.
    """
    if seats < 1:
        return ""
    where = f"--bus {shlex.quote(bus)} --house {house} --seats {seats}"
    return f"; bring them with: wolfbus player {where} --brain BRAIN, or wolfbus join {where} -- COMMAND"


def _command(where: str, brain: str, seats: int) -> str:
    if brain.startswith(OUTSIDE):
        name = shlex.quote(printable(brain.removeprefix(OUTSIDE), _BRAIN_SHOWN))
        return f"wolfbus join {where} --name {name} --seats {seats} -- COMMAND"
    return f"wolfbus player {where} --brain {shlex.quote(printable(brain, _BRAIN_SHOWN))} --seats {seats}"
