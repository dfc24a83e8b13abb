"""Who leaves the game: which seat departs by an event, and how. Every fold asks here, so all of them agree who lives.

A new way to leave is declared once, by the `way` of its event in `wolfbus/messages/events.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

from wolfbus.files.printable import in_plain_words
from wolfbus.game.vocabulary import Role, Team
from wolfbus.messages.base import SeatName
from wolfbus.messages.codec import plain
from wolfbus.messages.events import Departing, PublicEvent, Way


@dataclass(frozen=True, slots=True)
class Departure:
    """One seat leaves the game.

    Attributes:
        seat: who leaves.
        way: how, and the words for it.
        round: in which round.
        role: what it was, where that becomes public with it.
        team: its side, where that becomes public with it.
    """

    seat: SeatName
    way: Way
    round: int
    role: Role | None = None
    team: Team | None = None

    @property
    def how(self) -> str:
        """How it leaves, as views, rows and pages name it: "night", "exile"."""
        return self.way.how

    @property
    def revealed(self) -> Role | Team | None:
        """What becomes public with it."""
        return self.role or self.team


def departure(event: object) -> Departure | None:
    """Return who leaves the game by an event or fact; None if nobody does."""
    if not isinstance(event, Departing):
        return None
    seat = getattr(event, event.way.seat)
    if seat is None:
        return None
    return Departure(seat, event.way, event.round, event.role, event.team)


def departure_in_words(event: Departing, subject: str) -> str:
    """Return what happens by such an event: "Ada is exiled", "nobody is exiled", "you are shot by Hugo".

    Args:
        event: the event.
        subject: who leaves by it, or the word for nobody, as it is to stand there.
    """
    beside = {name: value for name, value in plain(event).items() if name not in _TOLD and name != event.way.seat}
    words = f"{subject} {'are' if subject == 'you' else 'is'} {event.way.verb}"
    return f"{words} {in_plain_words(beside)}" if beside else words


_TOLD: Final = frozenset({"type", "round", "role", "team"})
"""Fields of such an event that its words tell otherwise, or leave to others to tell."""


DEPARTING: Final[tuple[type[Departing], ...]] = tuple(Departing.__subclasses__())
"""The events by which seats leave."""

WAYS: Final[dict[str, Way]] = {event.way.how: event.way for event in DEPARTING}
"""How seats leave, by the name that views, rows and pages have for it."""

if hidden := [event.__name__ for event in DEPARTING if event not in get_args(PublicEvent)]:
    raise TypeError(f"everybody must learn who leaves the game: PublicEvent lacks {', '.join(hidden)}")
