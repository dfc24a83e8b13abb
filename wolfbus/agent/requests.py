"""`Requests`: which of a seat's requests are answered or being worked on, so that none is worked on twice."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Final

from wolfbus.messages.delivery import Ask

_KEPT: Final = 16
"""Answered requests that are remembered: more than a seat can have open at a time."""


class Requests:
    """One seat's requests, by id. A `catch_up` repeats those that its moderator holds open.

    `take` is for one thread, the rest for any.
    """

    def __init__(self) -> None:
        self._under_way: set[str] = set()
        self._answered: dict[str, None] = {}
        self._lock = threading.Lock()

    def take(self, asks: Iterable[Ask]) -> tuple[Ask, ...]:
        """Return those that nobody has taken yet; they are under way from now on."""
        with self._lock:
            fresh = tuple(ask for ask in asks if ask.id not in self._under_way and ask.id not in self._answered)
            self._under_way.update(ask.id for ask in fresh)
        return fresh

    def answered(self, request: str) -> None:
        """Take note that a request's reply is on its way."""
        with self._lock:
            self._under_way.discard(request)
            self._answered[request] = None
            if len(self._answered) > _KEPT:
                del self._answered[next(iter(self._answered))]

    def drop(self, request: str) -> None:
        """Take note that a request will not be answered; if it is put again, it is taken again."""
        with self._lock:
            self._under_way.discard(request)

    def again(self) -> None:
        """Take again what was answered before and is put once more.

        For an agent that has joined anew: its moderator reads all that stands before that in the agent's stream, and
        asks afterwards only what it found no answer to.
        """
        with self._lock:
            self._answered.clear()
