"""What the actor of an archive asks of the process around it, and how it says that things stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from wolfbus.messages.house import Archived


class Subscriptions(Protocol):
    """Brings what is followed on the bus to the actor of an archive; none of it waits."""

    def follow(self, game: str, after: str) -> None:
        """Have the entries of a game's record after this id brought to `ArchiveActor.take`."""

    def unfollow(self, game: str) -> None:
        """Have no more of them brought."""

    def follow_news(self) -> None:
        """Have the ``games`` stream brought to `ArchiveActor.hear`, from its beginning."""

    def tell(self, message: Archived) -> None:
        """Send a message to the moderator."""

    def look(self) -> None:
        """Have somebody look around soon: a game has begun, or is over."""

    def over(self) -> None:
        """Say that nothing is left to do."""


@dataclass(frozen=True, slots=True)
class ArchiveView:
    """How things stand.

    Attributes:
        live: the rolling picture for those who watch, plain values; None if nothing happened since the last look.
        waited_for: games whose last lines do not come though they, or the whole house, have closed: lines that are
            here, and lines there should be (None if nobody knows); game "" is the ``games`` stream, if it lost
            something.
        running: games under way.
        archived: games whose record is whole.
        failed: games that failed, or whose record is not whole.
    """

    live: dict[str, Any] | None = None
    waited_for: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    running: int = 0
    archived: int = 0
    failed: int = 0
