"""`Requests`: which of a seat's requests are answered or being worked on, so that none is worked on twice in vain."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from typing import Final

from wolfbus.messages.requests import Ask

_KEPT: Final = 16
"""Answered requests that are remembered: more than a seat can have open at a time."""


class Requests:
    """One seat's requests, by id; safe from any thread."""

    def __init__(self) -> None:
        self._under_way: set[str] = set()
        self._answered: dict[str, float] = {}
        self._lock = threading.Lock()

    def take(self, asks: Iterable[Ask]) -> tuple[Ask, ...]:
        """Return those that nobody has taken yet; they are under way from now on."""
        with self._lock:
            fresh = tuple(ask for ask in asks if ask.id not in self._under_way and ask.id not in self._answered)
            self._under_way.update(ask.id for ask in fresh)
        return fresh

    def under_way(self, request: str) -> bool:
        """Return whether a request was taken, and an answer to it is wanted still."""
        with self._lock:
            return request in self._under_way

    def answered(self, request: str) -> bool:
        """Take note that a request's reply is there; returns whether it is wanted, and may be sent."""
        with self._lock:
            if request not in self._under_way:
                return False
            self._under_way.discard(request)
            self._answered[request] = time.monotonic()
            if len(self._answered) > _KEPT:
                del self._answered[next(iter(self._answered))]
            return True

    def drop(self, request: str) -> None:
        """Take note that a request will not be answered; if it is put again, it is taken again."""
        with self._lock:
            self._under_way.discard(request)

    def resume(self, asks: Iterable[Ask], asked_at: float) -> None:
        """Hold on to nothing but what a `catch_up` asks.

        What is under way and asked there stays so; other answers are not wanted any more. What was answered before the
        `join` that the `catch_up` follows did not arrive if it is put again, and is taken again; a later answer is on
        its way.

        Args:
            asks: the requests of the `catch_up`.
            asked_at: when that `join` was said, on the clock of `time.monotonic`.
        """
        with self._lock:
            self._under_way.intersection_update(ask.id for ask in asks)
            self._answered = {request: at for request, at in self._answered.items() if at > asked_at}
