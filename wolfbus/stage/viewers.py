"""Viewers: which facts of a record one of them may know, before anything is made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from wolfbus.errors import ConfigError
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.base import GameId, SeatName
from wolfbus.messages.events import AnyEvent, Opened
from wolfbus.messages.requests import Revealed, Seated, Whispered

Viewer: TypeAlias = str
"""``everything``, ``public``, or ``seat:NAME``."""

EVERYTHING: Final = "everything"
PUBLIC: Final = "public"
_SEAT: Final = "seat:"


@dataclass(frozen=True, slots=True)
class TableOpened:
    """What everybody at the table knows as a game begins; a spectator of a house knows its id alone.

    Attributes:
        game: its id.
        started: Unix time of the opening, in seconds; None if it is not known.
        names: all players in seating order; () if they are not known.
        config: the rules; who is what is left out. None if they are not known.
    """

    game: GameId
    started: float | None = None
    names: tuple[SeatName, ...] = ()
    config: GameConfig | None = None
    type: Literal["table_opened"] = "table_opened"


Fact: TypeAlias = AnyEvent | TableOpened | Seated | Whispered | Revealed
"""What a viewer learns: for everything, the record's events; for others, the facts that the table or a seat is told."""


def viewer_of_seat(name: SeatName) -> Viewer:
    """Return the viewer that sees what the seat `name` sees."""
    return _SEAT + name


def seat_of(viewer: Viewer) -> SeatName | None:
    """Return the seat that `viewer` is, None for everything and public."""
    return viewer.removeprefix(_SEAT) if viewer.startswith(_SEAT) else None


def viewer_named(word: str, names: tuple[SeatName, ...], field: str = "--as ") -> Viewer:
    """Return the viewer that a person names: ``everything``, ``public``, a seat's name or ``seat:NAME``.

    Args:
        word: what the person wrote.
        names: all players.
        field: where they wrote it, as it stands before the word there.

    Raises:
        ConfigError: it is none of them; the message lists what there is.
    """
    if word in {EVERYTHING, PUBLIC}:
        return word
    name = word.removeprefix(_SEAT)
    if name not in names:
        raise ConfigError(f"{field}{word!r}: give everything, public or one of {', '.join(names)}")
    return viewer_of_seat(name)


class ViewerFilter:
    """Gives what one viewer may know of a record, event by event; built on `AudienceFilter`, the one rule of audiences.

    Args:
        viewer: who looks.
    """

    def __init__(self, viewer: Viewer) -> None:
        self.viewer = viewer
        self._seat = seat_of(viewer)
        self._audiences = AudienceFilter()

    def facts(self, event: AnyEvent) -> list[Fact]:
        """Take in the next event of the record and return the facts it makes for the viewer."""
        if self.viewer == EVERYTHING:
            return [event]
        audience = self._audiences.feed(event)
        facts: list[Fact] = []
        if isinstance(event, Opened):
            facts.append(_table(event))
        facts += [news.fact for news in audience.public]
        facts += [news.fact for seat, news in audience.private if seat == self._seat]
        return facts


def _table(opened: Opened) -> TableOpened:
    return TableOpened(
        opened.game,
        opened.started,
        tuple(seat.name for seat in opened.seats),
        opened.config.model_copy(update={"roles": None}),
    )
