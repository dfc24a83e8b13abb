"""`Unread`: which agents never gave an answer that could be used, and are given up: models, programs, addresses."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from wolfbus.files.printable import printable

_FAULT_SHOWN: Final = 200
"""Characters of the last reply's fault that are shown."""


@dataclass(slots=True)
class _Readings:
    unread: int = 0
    ever_read: bool = False
    given_up: str | None = None


class Unread:
    """Counts the replies of each agent that never came or that nobody could read, and says when it is given up.

    One of which anything was ever read is never given up: what it fails at later is a result. Safe from any thread.

    Args:
        limit: replies in a row that give an agent up; 0 for never.
    """

    def __init__(self, limit: int = 0) -> None:
        self._limit = limit
        self._agents: dict[Hashable, _Readings] = {}
        self._lock = threading.Lock()

    def add(self, agent: Hashable, name: str, why: str | None) -> str | None:
        """Add what became of a reply, or of a question without one.

        Args:
            agent: whose it is.
            name: what it is called, and where it is, in what is said of it.
            why: one line on why nothing of it could be used; None if something could.

        Returns:
            One line on why the agent is given up, if it is.
        """
        with self._lock:
            readings = self._agents.setdefault(agent, _Readings())
            if why is None:
                readings.ever_read = True
            elif not readings.ever_read and readings.given_up is None:
                readings.unread += 1
                if readings.unread == self._limit:
                    readings.given_up = (
                        f"{name} is given up: {self._limit} replies in a row could not be had or read, and "
                        f"none before (the last: {printable(why, _FAULT_SHOWN)}); --give-up 0 plays on all the same"
                    )
            return readings.given_up

    def given_up(self, agent: Hashable) -> str | None:
        """Return one line on why an agent was given up; None if it was not."""
        with self._lock:
            readings = self._agents.get(agent)
            return None if readings is None else readings.given_up
