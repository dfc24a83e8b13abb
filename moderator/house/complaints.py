"""`Complaints`: warnings about agents, at most one a minute for each, so that nobody can fill the log."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

logger = logging.getLogger(__name__)

EVERY_S: Final = 60.0
"""Seconds between two warnings about one agent; what else there is to say is counted."""

REMEMBERED: Final = 2000
"""Agents whose last warning is remembered."""


@dataclass(slots=True)
class _Said:
    at: float
    more: int = 0


class Complaints:
    """Warns of what agents do wrong. It has no clock of its own."""

    def __init__(self) -> None:
        self._said: dict[str, _Said] = {}

    def make(self, agent: str, complaint: str, now: float) -> None:
        """Warn of an agent, or count this.

        Args:
            agent: whom it is about.
            complaint: one line, fit to print.
            now: seconds of a clock that never runs backwards.
        """
        said = self._said.get(agent)
        if said is not None and now - said.at < EVERY_S:
            said.more += 1
            return
        counted = (
            f" (and {said.more} more not taken since the last such line)" if said is not None and said.more else ""
        )
        # the youngest stand last
        self._said.pop(agent, None)
        if len(self._said) >= REMEMBERED:
            del self._said[next(iter(self._said))]
        self._said[agent] = _Said(now)
        logger.warning("%s%s", complaint, counted, extra={"agent": agent})

    def sum_up(self, now: float) -> None:
        """Tell how much was only counted, of those whose minute is over; that is a warning too."""
        for agent, said in list(self._said.items()):
            if now - said.at >= EVERY_S:
                del self._said[agent]
                if said.more:
                    were = "messages were" if said.more > 1 else "message was"
                    self.make(agent, f"{agent}: {said.more} more {were} not taken", now)
