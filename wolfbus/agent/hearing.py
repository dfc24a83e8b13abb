"""`Hearing`: one seat's view, fed from deliveries, and what of their requests is new."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from wolfbus.agent.requests import Requests
from wolfbus.errors import RulesError
from wolfbus.messages.requests import Ask, Public, SeatPart
from wolfbus.view import SeatView


@dataclass(frozen=True, slots=True)
class News:
    """What a delivery holds for one seat: public facts, and its own part if it has one.

    Attributes:
        facts: public facts, in order.
        part: the seat's own facts and requests.
        asked_at: for a `catch_up`, which holds all that the seat may know: when `join` was said last, on the clock of
            `time.monotonic`; for an opening, which does so too, minus infinity; None for what is merely new.
        heard: when it came, on the clock of `time.monotonic`.
    """

    facts: tuple[Public, ...]
    part: SeatPart | None
    asked_at: float | None = None
    heard: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True)
class Again:
    """The agent has joined anew: all that runs will be caught up."""


class Hearing:
    """What one seat knows, and which of its requests are taken.

    Args:
        seat: the seat's name.

    Attributes:
        view: everything the seat may know; only `hear` changes it.
        requests: which requests are answered or under way; asked of by those who answer.
    """

    def __init__(self, seat: str) -> None:
        self.view = SeatView(me=seat)
        self.requests = Requests()

    def expect(self, news: News) -> bool:
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

    def _goes_on(self, news: News) -> bool:
        view, part = self.view, news.part
        if part is None:
            return True
        public, private = len(view.public), view.private_known
        if len(news.facts) < public or len(part.facts) < private:
            return False
        again = SeatView(me=view.me)
        try:
            for fact in news.facts[:public]:
                again.hear_public(fact)
            for own in part.facts[:private]:
                again.hear_private(own)
        except RulesError:
            return False
        return again == view

    def hear(self, news: News) -> tuple[Ask, ...]:
        """Take in what is new, pass over what is known; return the requests that nobody works on yet.

        Raises:
            RulesError: facts before these are missing. What came before the gap is taken in; no request is.
        """
        view = self.view
        for fact in news.facts:
            view.hear_public(fact)
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
