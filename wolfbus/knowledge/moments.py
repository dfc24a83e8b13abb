"""The moments of a game at which a seat can be asked what it believed, each with what the seat knew then: as a day
begins, when its debate is over, and before and after a statement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyEvent, Asked, Dawn, Opened, Statement

When: TypeAlias = Literal["dawn", "dusk", "before", "again", "after"]
"""As a day begins, and before its vote; before a statement, the same again, and after it."""
WHENS: Final[tuple[When, ...]] = get_args(When)


class Place(NamedTuple):
    """Where in a game a seat is asked.

    Attributes:
        round: the day, from 1.
        when: which moment of it.
        statement: number of the statement before or after which it is; None at dawn and dusk.
    """

    round: int
    when: When
    statement: int | None = None


@dataclass(frozen=True, slots=True)
class Moment:
    """One seat at one moment.

    Attributes:
        game: the game's id.
        place: where in the game.
        brain: what answered for the seat.
        hash: seal of the last line before the moment.
        view: what the seat knows then; read it before the next moment is taken, for it goes on with the game.
    """

    game: str
    place: Place
    brain: str
    hash: str
    view: SeatView

    @property
    def seat(self) -> SeatName:
        """Whose moment it is."""
        return self.view.me


def moments(
    events: Iterable[tuple[AnyEvent, str]],
    whens: Collection[When],
    is_chosen: Callable[[int], bool],
) -> Iterator[Moment]:
    """Yield the moments of a game in the record's order: of every seat that lives then, around a statement but the
    speaker's.

    Args:
        events: a record's events, from the first, each with the hash on its line.
        whens: which of dawn and dusk.
        is_chosen: whether there are moments around the debate's statement of a number.
    """
    audiences = AudienceFilter()
    seats: dict[SeatName, tuple[str, SeatView]] = {}
    game = last = ""
    dawn: int | None = None
    for event, seal in events:
        if isinstance(event, Opened):
            game = event.game
            seats = {seat.name: (seat.brain, SeatView(seat.name)) for seat in event.seats}
        speaker = event.speaker if isinstance(event, Statement) else None
        for place in _before(event, dawn, whens, is_chosen):
            yield from _of_living(game, place, last, seats, speaker)
        facts = audiences.feed(event)
        for _, view in seats.values():
            view.hear_public(*facts.public)
        for name, private in facts.private:
            seats[name][1].hear_private(private)
        last = seal
        if isinstance(event, Dawn | Asked):
            dawn = event.round if isinstance(event, Dawn) else None
        elif isinstance(event, Statement) and _is_chosen(event, is_chosen):
            yield from _of_living(game, Place(event.round, "after", event.statement), last, seats, speaker)


def _before(
    event: AnyEvent, dawn: int | None, whens: Collection[When], is_chosen: Callable[[int], bool]
) -> Iterator[Place]:
    """Yield the places right before an event; a dawn's before the first request of its day, for no day begins at a dawn
    that ends the game.
    """
    if isinstance(event, Asked):
        if dawn is not None and "dawn" in whens:
            yield Place(dawn, "dawn")
        if "dusk" in whens and any(asking.kind == "vote" for asking in event.asks):
            yield Place(event.round, "dusk")
    elif isinstance(event, Statement) and _is_chosen(event, is_chosen):
        yield Place(event.round, "before", event.statement)
        yield Place(event.round, "again", event.statement)


def _is_chosen(event: Statement, is_chosen: Callable[[int], bool]) -> bool:
    return event.phase == "debate" and is_chosen(event.statement)


def _of_living(
    game: str, place: Place, seal: str, seats: Mapping[SeatName, tuple[str, SeatView]], speaker: SeatName | None
) -> Iterator[Moment]:
    for name, (brain, view) in seats.items():
        if name not in view.dead and name != speaker and view.ended is None:
            yield Moment(game, place, brain, seal, view)
