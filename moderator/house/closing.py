"""`Closing`: the end of a session, step by step: every record archived, the house closed, tickets taken back."""

from __future__ import annotations

import logging
from typing import Final

from moderator.house.archives import Archives
from moderator.house.departure import Departure
from moderator.house.games import ModeratorHouse
from moderator.house.housekeeping import carry_out, last_tidy
from moderator.house.lobby import Reception
from moderator.house.roster import Roster
from moderator.house.session import Session
from moderator.house.settings import Settings
from moderator.house.tickets import Tickets
from moderator.house.unfinished import take_back
from moderator.house.waiting import Patience
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus
from wolfbus.errors import BusError
from wolfbus.messages.house import Goodbye, HouseClosed, RollCall

logger = logging.getLogger(__name__)

LANDING_S: Final = 70.0
"""Longest time for news to land; the house tries for a minute while the bus is away."""

ROLL_CALL_S: Final = 1.0
"""Longest time that is waited for answers to the last roll call."""

LAST_YARDS: Final = 6
"""Heartbeats that analytics has for its last results before its ticket is taken back; players have one."""


class Closing:
    """Closes a house whose games are all over.

    Args:
        reason: why it closes, in one line.
        failed: whether that is a failure in itself.
        settings: what the service was told.
        bus: where the house is.
        house: tells everybody.
        session: its news.
        archives: what analytics has on disk.
        roster: who is here.
        reception: whose mailboxes there are.
        tickets: to be taken back; None for none.
    """

    def __init__(
        self,
        reason: str,
        failed: bool,
        settings: Settings,
        bus: Bus,
        house: ModeratorHouse,
        session: Session,
        archives: Archives,
        roster: Roster,
        reception: Reception,
        tickets: Tickets | None,
    ) -> None:
        self._reason = reason[:300]
        self._failed = failed
        self._set = settings
        self._bus = bus
        self._house = house
        self._session = session
        self._archives = archives
        self._roster = roster
        self._reception = reception
        self._tickets = tickets
        self._patience = Patience(None)
        self._began: float | None = None
        self._called_at: float | None = None
        self._told_at: float | None = None
        self._error: BusError | None = None

    def unsaid(self, error: BusError) -> None:
        """Take note that something could not be told on the ``games`` stream."""
        self._error = error

    def go_on(self, now: float) -> Departure | None:
        """Do what can be done now; returns how it ended when all is done.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        self._session.catch_up(self._bus, self._set.house)
        self._began = now if self._began is None else self._began
        if self._told_at is None:
            # what agents say now is accounted for, and can be cut away at the end
            self._house.settle()
        if self._told_at is not None:
            return self._leave(now, self._told_at)
        if self._session.under_way:
            # the word that these have failed is still on its way
            return self._too_late(now, self._began)
        if self._called_at is None:
            # how far everybody has read is asked once more, so that little is left behind
            self._called_at = now
            self._house.tell([(name, RollCall()) for name in self._reception.names])
        if not self._waits_for_archive(now) and self._all_heard(now, self._called_at):
            self._close()
            self._told_at = now
        return None

    def _all_heard(self, now: float, since: float) -> bool:
        """Return whether all who are here have answered the roll call, as far as we can wait."""
        waits = now - since < min(ROLL_CALL_S, self._set.heartbeat_s)
        return not waits or all(
            member.heard >= since or not self._roster.is_present(name, now)
            for name, member in self._roster.members.items()
        )

    def _waits_for_archive(self, now: float) -> bool:
        missing = len(self._archives.missing)
        present = self._roster.present(now, "analytics")
        if not missing or not (self._set.archive or present):
            return False
        line = f"waiting until analytics has archived {missing} game{'' if missing == 1 else 's'}"
        if not present:
            line += "; no analytics service is here"
        if self._patience.due(line, now):
            logger.info("%s", line)
            # what it has said of them may have been lost with a Redis's last second
            for agent in present:
                self._reception.welcome(agent, self._roster.members[agent].join)
        return True

    @property
    def failures(self) -> int:
        """Games that failed, or whose record could not be archived."""
        return self._session.failed + self._archives.failed

    def _close(self) -> None:
        session = self._session
        closed = HouseClosed(session=session.name, games=session.games, failed=self.failures, reason=self._reason)
        self._house.announce(closed, [(name, Goodbye(reason=self._reason)) for name in self._reception.names])

    def _leave(self, now: float, since: float) -> Departure | None:
        if self._session.running:
            return self._too_late(now, since)
        if not self._house.has_said_all and now - since < LANDING_S:
            # not every mailbox may take its goodbye together with the others
            return None
        if self._tickets is not None:
            if not self._all_gone(now, since):
                return None
            take_back(self._tickets)
        self._tidy()
        games = self._session.games
        summary = f"{self._reason}; {games} game{'' if games == 1 else 's'}, {self.failures} failed"
        return Departure("closed", summary, self._failed or self.failures > 0)

    def _too_late(self, now: float, since: float) -> Departure | None:
        if self._error is None and now - since < LANDING_S:
            return None
        return Departure("lost", f"the house could not be closed: {self._error or 'the bus does not take it'}", True)

    def _all_gone(self, now: float, since: float) -> bool:
        """Return whether nobody needs a ticket any more, as far as we can wait."""
        patience = self._set.heartbeat_s
        if self._roster.present(since, "analytics"):
            patience *= LAST_YARDS
        left = all(member.left for member in self._roster.members.values())
        return left or now - since >= patience

    def _tidy(self) -> None:
        """Leave as little as can be on the bus; nobody plays any more."""
        house, out = self._set.house, streams.outbox(self._set.house, "")
        dealt = {stream: last for stream, last in self._bus.cursors(house).items() if stream.startswith(out)}
        seen = {name: member.join.seen for name, member in self._roster.members.items()}
        carry_out(self._bus, last_tidy(house, dealt, seen))
