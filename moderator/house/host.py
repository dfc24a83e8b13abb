"""`Host`: moderates a house that was claimed, for one term."""

from __future__ import annotations

import contextlib

from moderator.house.closing import CloseWatchdog
from moderator.house.lease import TermEnd, handed_over
from moderator.house.term import ClaimedHouse, StartLocal, Term
from wolfbus.errors import BusDown, WolfError


class Host:
    """Moderates a house that was claimed.

    Args:
        house: the house, and what the moderator has for it; its bus is closed early if that holds up the end of the
            term.
    """

    def __init__(self, house: ClaimedHouse) -> None:
        self._house = house
        self._stopping = house.stopping
        self._term: Term | None = None

    def run(self, playing: tuple[str, ...] = (), start_local: StartLocal | None = None) -> TermEnd:
        """Moderate until the term is over.

        Args:
            playing: games that this moderator had under way before the bus went backwards.
            start_local: has those begin who play and watch in this very process; None for nobody.

        Raises:
            BusError: the house cannot be moderated at all; one clear line.
        """
        with contextlib.closing(CloseWatchdog(self._house.bus, self._is_ending)), contextlib.ExitStack() as stack:
            try:
                term = Term(self._house, start_local, stack)
            except BusDown:
                if not self._stopping.requested:
                    raise
                return handed_over(self._stopping)
            self._term = term
            return term.moderate(playing)

    def break_off(self, reason: WolfError, game: str | None = None, *, stays: bool = False) -> None:
        """Break off every game that was asked for, or one; each record says why. Any thread may call it.

        Args:
            reason: why; it stands in the news too, which spectators read.
            game: which one; None for all.
            stays: whether it is to be gone on with: then nothing more is recorded.
        """
        if self._term is not None:
            self._term.break_off(reason, game, stays=stays)

    def leave(self, reason: str) -> None:
        """End the term, and leave every game where it stands, to whoever goes on with it. Any thread may call it.

        Args:
            reason: why.
        """
        if self._term is not None:
            # at once: nothing that follows from the reason may be taken in before it
            self._term.leave_games()
        self._stopping.ask(reason)

    def _is_ending(self) -> bool:
        return self._stopping.requested or (self._term is not None and self._term.end is not None)
