"""What an archivist is told, and what it asks of the process around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from wolfbus.bus.protocol import Entry
from wolfbus.messages.house import Archived


class Subscriptions(Protocol):
    """What an archivist asks of the process around it; none of it waits."""

    def follow(self, game: str, after: str) -> None:
        """Have the entries of a game's record after this id brought, as `Lines`."""

    def unfollow(self, game: str) -> None:
        """Have no more of them brought."""

    def follow_news(self) -> None:
        """Have the ``games`` stream brought from its beginning, as `ArchiveNews`."""

    def tell(self, message: Archived) -> None:
        """Send a message to the moderator."""

    def look(self) -> None:
        """Have somebody `LookAround` soon: a game has begun, or is over."""

    def over(self) -> None:
        """Say that nothing is left to do."""


@dataclass(frozen=True, slots=True)
class ArchiveNews:
    """Entries of the ``games`` stream."""

    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Lines:
    """Entries of a game's record."""

    game: str
    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class Lost:
    """The bus lost something of a stream that was followed: a game's record, or the ``games`` stream (game "")."""

    game: str
    reason: str


@dataclass(frozen=True, slots=True)
class Gone:
    """What is missing of a game's record (of the ``games`` stream: game "") will not come any more."""

    game: str
    reason: str


@dataclass(frozen=True, slots=True)
class Acknowledge:
    """A moderator has come that may not know what is archived: tell it all again."""


@dataclass(frozen=True, slots=True)
class LookAround:
    """Asked every few seconds; answered with a `ArchiveView`."""


@dataclass(frozen=True, slots=True)
class ArchiveView:
    """How things stand.

    Attributes:
        changed: whether anything happened since the last look.
        live: the rolling picture for those who watch, plain values.
        waited_for: games whose last lines do not come though they, or the whole house, have closed: lines that are
            here, and lines there should be (None if nobody knows); game "" is the ``games`` stream, if it lost
            something.
        running: games under way.
        archived: games whose record is whole.
        failed: games that failed, or whose record is not whole.
    """

    changed: bool
    live: dict[str, Any]
    waited_for: dict[str, tuple[int, int | None]]
    running: int
    archived: int
    failed: int


@dataclass(frozen=True, slots=True)
class Finish:
    """Bring all to the disk; answered with the `Results`."""
