"""`Followed`: a game whose record is being carried into its file."""

from __future__ import annotations

from analytics.archive import GameArchive
from wolfbus.messages.house import GameClosed


class Followed:
    """A game that is not settled yet.

    Attributes:
        archive: its file, None if there can be none.
        closed: how the moderator closed it.
        error: why its record will not be whole.
        rereading: whether its record is read again, and has not come from its first line yet.
        doubted_at: where the record did not go on when it was last read again.
        looked_at: lines there were when somebody last looked around.
        seen: number of the last line that was brought since the record was last followed.
    """

    __slots__ = ("archive", "closed", "doubted_at", "error", "looked_at", "number", "rereading", "seen")

    def __init__(self, number: int) -> None:
        self.number = number
        self.archive: GameArchive | None = None
        self.closed: GameClosed | None = None
        self.error: str | None = None
        self.rereading = False
        self.doubted_at: tuple[int, str] | None = None
        self.looked_at = -1
        self.seen = 0
