"""`Host`: moderates a house that was claimed, for one term."""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from moderator.house.closing import CloseWatchdog
from moderator.house.lease import Claim, TermEnd, handed_over
from moderator.house.roster import Tickets
from moderator.house.settings import GameReport, ModeratorSettings
from moderator.house.term import StartLocal, Term
from wolfbus.bus.protocol import Bus
from wolfbus.errors import BusDown, WolfError
from wolfbus.service.lifecycle import Health, Stopping


class Host:
    """Moderates a house that was claimed.

    Args:
        bus: where it is; closed early if it holds up the end of the term.
        settings: what the service was told.
        claim: by which it is ours.
        stopping: asked when this process should end.
        health: told how it goes.
        report: called with the result of every game.
        tickets: who holds one; None where anybody may come.
    """

    def __init__(
        self,
        bus: Bus,
        settings: ModeratorSettings,
        claim: Claim,
        stopping: Stopping,
        health: Health,
        report: Callable[[GameReport], None],
        tickets: Tickets | None = None,
    ) -> None:
        self._bus = bus
        self._settings = settings
        self._claim = claim
        self._stopping = stopping
        self._health = health
        self._report = report
        self._tickets = tickets
        self._term: Term | None = None

    def run(self, playing: tuple[str, ...] = (), start_local: StartLocal | None = None) -> TermEnd:
        """Moderate until the term is over.

        Args:
            playing: games that this moderator had under way before the bus went backwards.
            start_local: has those begin who play and watch in this very process; None for nobody.

        Raises:
            BusError: the house cannot be moderated at all; one clear line.
        """
        with contextlib.closing(CloseWatchdog(self._bus, self._is_ending)), contextlib.ExitStack() as stack:
            try:
                term = Term(
                    self._bus,
                    self._settings,
                    self._claim,
                    self._stopping,
                    self._health,
                    self._report,
                    self._tickets,
                    start_local,
                    stack,
                )
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
