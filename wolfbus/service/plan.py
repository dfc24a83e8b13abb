"""Which processes make a house on one machine, the same as in the compose file."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from wolfbus.bus.protocol import Bus
from wolfbus.bus.url import PATIENCE_S, shown_url, with_patience
from wolfbus.errors import WolfError
from wolfbus.files.printable import printable
from wolfbus.service.child import module_words
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.supervisor import Program

OPEN: Final = "open"
"""Stands in a players spec for a seat that is left to an agent from outside."""

MODERATOR: Final = "moderator"
ANALYTICS: Final = "analytics"

_LEASE_WAIT_S: Final = 10.0
"""Seconds for which the end of a lease is waited for; moderators have one of 5 unless told otherwise."""
_POLL_S: Final = 0.1
_RENEWED_S: Final = 0.15
"""A lease that lasts by so much longer than it could was renewed: its holder lives."""
_MASKED: Final = "user and password in place of the stars; it is not shown"


@dataclass(frozen=True, slots=True)
class HousePlan:
    """What a run plays.

    Attributes:
        url: the bus's address.
        house: the house's name.
        brains: brain of every seat, in seating order; `OPEN` for a seat that is left to others.
        out: folder for records and results.
        seed: the session's seed; None for a fresh one.
        games: how many games.
        at_once: games under way at a time.
        config: file of rules and models; None for the defaults.
        log: how the processes' log lines look.
    """

    url: str = field(repr=False)
    house: str
    brains: Sequence[str]
    out: Path
    seed: str | None = None
    games: int = 1
    at_once: int = 1
    config: Path | None = None
    log: str = "text"

    def programs(self) -> list[Program]:
        """Return the processes: a moderator, an agent for every seat that is not open, and analytics."""
        shared = ["--house", self.house, "--log", self.log]
        config = [] if self.config is None else ["--config", str(self.config)]
        moderator = [*config, "--games", str(self.games), "--at-once", str(self.at_once), "--archive"]
        seats = ["--seats", str(self.at_once), *config]
        return [
            self._program(MODERATOR, "moderator", *shared, *moderator),
            *(
                # one word for option and value: a brain's own could begin with a dash
                self._program(f"player-{place}", "player", *shared, *seats, "--place", str(place), f"--brain={brain}")
                for place, brain in enumerate(self.brains, start=1)
                if brain != OPEN
            ),
            self._program(ANALYTICS, "analytics", *shared, "--out", str(self.out)),
        ]

    def _program(self, name: str, *words: str) -> Program:
        leads = name in {MODERATOR, ANALYTICS}
        # The address may hold a password, and the seed tells all roles: others on this machine see command lines.
        # one that starts while Redis is away waits as those do that had reached it
        url = with_patience(self.url, PATIENCE_S)
        environment = {"WOLFBUS_BUS": url, f"WOLFBUS_{words[0].upper()}_BUS": url}
        if name == MODERATOR and self.seed is not None:
            environment["WOLFBUS_MODERATOR_SEED"] = self.seed
        named = words if leads else (*words, "--name", name)
        command, is_last = tuple(module_words("wolfbus", *named)), name == ANALYTICS
        return Program(name, command, environment, is_leader=leads, muted=leads, is_last=is_last)

    def invitation(self) -> list[str]:
        """Return the lines that tell how to take the open seats, and how to give a password."""
        places = [str(place) for place, brain in enumerate(self.brains, start=1) if brain == OPEN]
        if not places:
            return []
        several = f"seats {', '.join(places)} are open, one such line takes each"
        open_seats = several if len(places) > 1 else f"seat {places[0]} is open"
        address = shown_url(self.url)
        secret = address != self.url
        bus = "" if secret else f"--bus {shlex.quote(address)} "
        target = f"--house {self.house} --place {places[0]}"
        if self.at_once > 1:
            target += f" --seats {self.at_once}"
        typed = f"a password is needed: type {address}, {_MASKED}"
        password = f"  read -rs WOLFBUS_BUS; export WOLFBUS_BUS      ({typed})"
        return [
            f"{open_seats}; in another terminal:",
            *([password] if secret else []),
            f"  wolfbus join {bus}{target} -- COMMAND      (a program that speaks the line protocol)",
            f"  wolfbus join {bus}{target} --human      (you, at a page)",
        ]


def check_free(bus: Bus, house: str, stopping: Stopping) -> None:
    """Return once nobody moderates a house; a moderator that was killed leaves it for some seconds.

    Args:
        bus: where it is.
        house: its name.
        stopping: ends the wait.

    Raises:
        WolfError: somebody does.
    """
    began = time.monotonic()
    first = owner = bus.owner(house)
    while owner.left_s > 0 and not stopping.requested:
        waited = time.monotonic() - began
        renewed = owner.epoch != first.epoch or owner.left_s > first.left_s - waited + _RENEWED_S
        if renewed or waited > _LEASE_WAIT_S:
            raise WolfError(
                f"house {house} is moderated by {printable(owner.holder)} already: stop that moderator, or take "
                "another --house"
            )
        stopping.wait(min(_POLL_S, owner.left_s))
        owner = bus.owner(house)
