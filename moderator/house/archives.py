"""`Archives`: which records analytics has safe on disk; those expire on the bus, the others are waited for."""

from __future__ import annotations

import logging

from moderator.house.session import HouseSession
from wolfbus.bus.protocol import Bus
from wolfbus.messages.house import Archived, GameClosed

logger = logging.getLogger(__name__)


class Archives:
    """Keeps the account of one session's records, by what analytics says.

    A game whose record was archived has no head on the bus any more, so a moderator that comes later knows it too.

    Args:
        bus: where the records are.
        house: the house's name.
        session: its news; games that are accounted for leave its `closed`.
        keep_s: seconds that a record stays on the bus after it was archived, >= 0; None for ever.
    """

    def __init__(self, bus: Bus, house: str, session: HouseSession, keep_s: float | None) -> None:
        self._bus = bus
        self._house = house
        self.session = session
        self._keep_s = keep_s

    @property
    def failed(self) -> int:
        """Games whose record could not be kept or proved, and that had not failed already."""
        return self.session.lost

    def recall(self) -> None:
        """Strike out what earlier moderators have seen archived; raises BusError."""
        for game in list(self.session.closed):
            if not self._bus.head(self._house, game):
                self.session.settle(game)

    @property
    def missing(self) -> tuple[str, ...]:
        """Games of the session that are over, and that nobody has said to have archived."""
        return tuple(self.session.closed)

    def let_go(self, game: str, head: str) -> bool:
        """Let the bus forget the record of a game that is over, where that is not to stay.

        Args:
            game: its id.
            head: seal of its last line.

        Returns:
            Whether that is how it ends on the bus, or nobody asks for that.

        Raises:
            BusError: the bus is away.
        """
        if self._keep_s is not None and not self._bus.expire(self._house, game, self._keep_s, head):
            return False
        self.session.settle(game)
        return True

    def take(self, agent: str, told: Archived) -> None:
        """Take note of what an analytics service says of a record; raises BusError."""
        if told.game in self.session.under_way:
            # analytics read of the game's end before we did
            self.session.catch_up(self._bus, self._house)
        closed = self.session.closed.get(told.game)
        earlier = self.session.earlier.get(told.game)
        if closed is None and earlier is None:
            logger.debug("%s archived a game that is not waited for", agent, extra={"game": told.game})
        elif told.error is not None:
            if told.closed not in {"", *(one.hash for one in (closed, earlier) if one is not None)}:
                logger.warning(
                    "%s could not archive a record that the bus has lost since; this is not counted: %s",
                    agent,
                    told.error,
                    extra={"game": told.game},
                )
                return
            if closed is not None:
                self.session.settle(told.game, lost=closed.outcome == "ended")
            logger.error("%s could not archive the record: %s", agent, told.error, extra={"game": told.game})
        elif _is_whole(told, closed or earlier):
            # of a bus that has gone backwards unnoticed the game may be under way again: then its head is another
            if not self.let_go(told.game, told.hash):
                logger.warning("the bus has lost the end of a record that is archived", extra={"game": told.game})
                return
            logger.debug("%s archived %d lines", agent, told.lines, extra={"game": told.game})
        else:
            logger.warning(
                "%s says it has archived %d lines, but its last seal is not the record's; this is not counted",
                agent,
                told.lines,
                extra={"game": told.game},
            )


def _is_whole(told: Archived, closed: GameClosed | None) -> bool:
    return closed is not None and (told.lines, told.hash) == (closed.lines, closed.hash)
