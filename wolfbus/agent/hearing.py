"""`Hearing`: one seat's view, fed from deliveries, and which of its requests are taken."""

from __future__ import annotations

import threading
import time
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from wolfbus.audience import PublicNews, SeatMail
from wolfbus.errors import RulesError
from wolfbus.messages.requests import Ask, Public, SeatPart
from wolfbus.view import SeatView

_KEPT: Final = 16
"""Answered requests that are remembered: more than a seat can have open at a time."""


class SeatNews(NamedTuple):
    """What a delivery holds for one seat: public facts, and its own part if it has one.

    Attributes:
        facts: public facts, in order.
        part: the seat's own facts and requests.
        asked_at: for a `catch_up`, which holds all that the seat may know: when `join` was said last, on the clock of
            `time.monotonic`; for an opening, which does so too, minus infinity; None for what is merely new.
        heard: when it came, on the clock of `time.monotonic`; 0 where that does not matter.
    """

    facts: Sequence[Public | PublicNews]
    part: SeatPart | SeatMail | None
    asked_at: float | None = None
    heard: float = 0.0


class Requests:
    """One seat's requests, by id; safe from any thread."""

    __slots__ = ("_answered", "_answered_at", "_lock", "_under_way")

    def __init__(self) -> None:
        # few at a time, and a set is four times as large as a list
        self._under_way: list[str] = []
        # hashes of ids, oldest first, and when; in arrays, for a process may play thousands of seats
        self._answered = array("q")
        self._answered_at = array("d")
        self._lock = threading.Lock()

    def take(self, asks: Iterable[Ask]) -> tuple[Ask, ...]:
        """Return those that nobody has taken yet; they are under way from now on."""
        with self._lock:
            fresh = [ask for ask in asks if ask.id not in self._under_way and hash(ask.id) not in self._answered]
            self._under_way += [ask.id for ask in fresh]
        return tuple(fresh)

    def under_way(self, request: str) -> bool:
        """Return whether a request was taken, and an answer to it is wanted still."""
        with self._lock:
            return request in self._under_way

    def answered(self, request: str) -> bool:
        """Take note that a request's reply is there; returns whether it is wanted, and may be sent."""
        with self._lock:
            if request not in self._under_way:
                return False
            self._under_way.remove(request)
            if len(self._answered) == _KEPT:
                del self._answered[0], self._answered_at[0]
            self._answered.append(hash(request))
            self._answered_at.append(time.monotonic())
            return True

    def drop(self, request: str) -> None:
        """Take note that a request will not be answered; if it is put again, it is taken again."""
        with self._lock:
            if request in self._under_way:
                self._under_way.remove(request)

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
            asked = {ask.id for ask in asks}
            self._under_way = [request for request in self._under_way if request in asked]
            # ascending, as they are appended
            old = bisect_right(self._answered_at, asked_at)
            del self._answered[:old], self._answered_at[:old]


class Hearing:
    """What one seat knows, and which of its requests are taken.

    Args:
        seat: the seat's name.

    Attributes:
        view: everything the seat may know; only `hear` changes it.
        requests: which requests are answered or under way; asked of by those who answer.
    """

    __slots__ = ("requests", "view")

    def __init__(self, seat: str) -> None:
        self.view = SeatView(me=seat)
        self.requests = Requests()

    def expect(self, news: SeatNews) -> bool:
        """Take note of a `catch_up` as soon as it is there, before it is heard.

        From then on only answers to what it asks are wanted.

        Returns:
            Whether it goes on where this seat is. If not, the bus has lost what was told before, no answer under way
            is wanted, and another `Hearing` must hear it.
        """
        goes_on = self._goes_on(news)
        asked_at = time.monotonic() if news.asked_at is None else news.asked_at
        self.requests.resume(news.part.asks if goes_on and news.part is not None else (), asked_at)
        return goes_on

    def _goes_on(self, news: SeatNews) -> bool:
        view, part = self.view, news.part
        if part is None:
            return True
        public, private = len(view.public), view.private_known
        if len(news.facts) < public or len(part.facts) < private:
            return False
        again = SeatView(me=view.me)
        try:
            again.hear_public(*news.facts[:public])
            for own in part.facts[:private]:
                again.hear_private(own)
        except RulesError:
            return False
        return again == view

    def hear(self, news: SeatNews) -> tuple[Ask, ...]:
        """Take in what is new, pass over what is known; return the requests that nobody works on yet.

        Raises:
            RulesError: facts before these are missing. What came before the gap is taken in; no request is.
        """
        view = self.view
        if news.facts:
            view.hear_public(*news.facts)
        if news.part is None:
            return ()
        for private in news.part.facts:
            view.hear_private(private)
        return self.requests.take(news.part.asks) if news.part.asks else ()


def worth_answering(ask: Ask, heard: float, *, newest: bool) -> bool:
    """Return whether a request should still be thought about.

    Who thought too long about one question should not go on with all those that are closed by now. The newest is
    answered even so: a late answer tells the moderator that the seat is alive.

    Args:
        ask: the request.
        heard: when it came, in monotonic seconds.
        newest: whether nothing newer waits.
    """
    return newest or time.monotonic() - heard < ask.deadline_s
