"""`PageBrain`: a person at a page answers for a seat."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from players.human.words import COUNTS_AS, default_of, question_in_words
from wolfbus.agent import Agent, Answer
from wolfbus.agent.answer import answer_of
from wolfbus.agent.outbox import Replies
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Proposal, Speech
from wolfbus.messages.requests import Ask, Private, Public
from wolfbus.printable import name_of, storable
from wolfbus.stage.people import People, PersonRequest, PersonSeat
from wolfbus.view import SeatView

_BESIDE = 1_000
"""Bytes of a reply that are not the person's words, at most."""


class PageBrain(Agent):
    """Puts a seat's requests on a page, all at a time, and sends what the person there answers, in any order.

    The page shows what the seat may know and nothing else. A request that nobody answers times out; the newest stays
    on the page even then, since an answer that comes too late still makes the game wait for this seat again.

    Args:
        people: who plays at the pages of this process.
    """

    def __init__(self, people: People) -> None:
        self._people = people
        self._place: PersonSeat | None = None

    @property
    def _person(self) -> PersonSeat:
        if self._place is None:
            self._place = self._people.sit(self.game, self.seat)
        return self._place

    def received(self, facts: Sequence[Public], own: Sequence[Private], /) -> None:
        """Show facts."""
        self._person.told(facts, own)

    def start(self, asks: tuple[Ask, ...], view: SeatView, replies: Replies, /) -> None:
        """Put the questions of one delivery on the page."""
        self._person.asked(
            [
                PersonRequest(
                    ask,
                    tuple(question_in_words(ask, view))[1:],
                    COUNTS_AS[ask.kind],
                    partial(_take, ask, view.config.bid_max, view.config.max_reply_bytes, replies),
                )
                for ask in asks
            ]
        )

    def ended(self, _view: SeatView, /) -> None:
        """Ask nothing more."""
        self._person.left()


def _take(
    ask: Ask, bid_max: int, limit: int, replies: Replies, given: dict[str, Any] | None, thought: str | None
) -> str | None:
    """Send an answer; returns what is wrong with it, None if nothing is."""
    if given is None:
        replies.answer(ask, default_of(ask))
        return None
    try:
        content = answer_of(ask.kind, given).content
    except (TypeError, ValueError) as error:
        return str(error)
    if isinstance(content, Bid | Speech | Ballot | Choice | Proposal) and (why := _fault(content, ask, bid_max)):
        return why
    thought = storable(thought or "")
    if len(repr(content).encode()) + len(thought.encode()) > limit - _BESIDE:
        return f"that is too long; {limit - _BESIDE} bytes are read at most"
    replies.answer(ask, Answer(content, thought=thought or None))
    return None


def _fault(content: Content, ask: Ask, bid_max: int) -> str | None:
    """Return why an answer that can be read is not legal, None if it is."""
    if isinstance(content, Bid):
        return None if 0 <= content.bid <= bid_max else f"a bid is a whole number from 0 to {bid_max}"
    if isinstance(content, Ballot | Choice | Proposal) and ask.legal is not None and content.target not in ask.legal:
        return f"{name_of(content.target)} cannot be chosen here"
    return None
