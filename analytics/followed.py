"""`Followed`: a game whose record is being carried into its file."""

from __future__ import annotations

from analytics.archive import GameArchive
from wolfbus.messages.house import GameClosed, HouseClosed


class Followed:
    """A game that is not settled yet.

    Attributes:
        archive: its file, None if there can be none.
        closed: how the moderator closed it.
        error: why its record will not be whole.
        rereading: whether its record is read again, and has not come from its first line yet.
        from_start: whether its record was followed from its first line when that was last begun.
        doubted_at: where the record did not go on when it was last read again.
        news_doubted: news of the end, the game's or the house's, that was asked for again since it did not go with the
            record.
        looked_at: lines there were when somebody last looked around.
        seen: number of the last line that was brought since the record was last followed.
    """

    __slots__ = (
        "archive",
        "closed",
        "doubted_at",
        "error",
        "from_start",
        "looked_at",
        "news_doubted",
        "number",
        "rereading",
        "seen",
    )

    def __init__(self, number: int) -> None:
        self.number = number
        self.archive: GameArchive | None = None
        self.closed: GameClosed | None = None
        self.error: str | None = None
        self.rereading = False
        self.from_start = False
        self.doubted_at: tuple[int, str] | None = None
        self.news_doubted: GameClosed | HouseClosed | None = None
        self.looked_at = -1
        self.seen = 0
