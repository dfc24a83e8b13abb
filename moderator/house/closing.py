"""Closing a house: once its games are over, or at once when its moderator breaks down; and what another left undone.

Everybody waits for a moderator until the news is on the ``games`` stream that the session is closed, and a goodbye in
the mailbox. So a moderator that breaks down by an error of its own closes the house too; and one that was killed after
it had closed the house, but before it released it, has perhaps not taken tickets back, nor said goodbye to all:
whoever is started in its place does that and leaves, for nothing else is left to do.
"""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable
from typing import Final

from moderator.engine.context import HouseContext, house_entry
from moderator.house.games import Games
from moderator.house.housekeeping import trim_all
from moderator.house.lease import Claim, TermEnd
from moderator.house.lobby import Lobby, lobby_senders, outbox_names
from moderator.house.roster import Tickets
from moderator.house.session import HouseSession
from moderator.house.settings import ModeratorSettings
from moderator.house.waiting import WaitingNotice
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Commit
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusDown, BusError, Fenced, WolfError
from wolfbus.files.printable import counted
from wolfbus.messages.base import ID_PATTERN
from wolfbus.messages.house import Goodbye, HouseClosed, RollCall
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.session import Session

logger = logging.getLogger(__name__)

BROKE_DOWN: Final = "the moderator failed by an error of its own"
"""All that others are told; the error itself may say what they must not know, and stands in the log."""

LANDING_S: Final = 70.0
"""Longest time for news to land; the house tries for a minute while the bus is away."""

ROLL_CALL_S: Final = 1.0
"""Longest time that is waited for answers to the last roll call."""

ANALYTICS_HEARTBEATS: Final = 6
"""Heartbeats that analytics has for its last results before its ticket is taken back; players have one."""

END_S: Final = 5.0
"""How long the end of a term may take before the bus is given up, in seconds."""

_POLL_S: Final = 0.02
_WATCH_S: Final = 0.1


class Closing:
    """Closes a house.

    Args:
        reason: why it closes, in one line.
        failed: whether that is a failure in itself.
        settings: what the service was told.
        context: the house.
        games: tells everybody.
        session: what ends; its records that are not archived are waited for.
        lobby: who is here, whose mailboxes there are, and the tickets to be taken back.
    """

    def __init__(
        self,
        reason: str,
        failed: bool,
        settings: ModeratorSettings,
        context: HouseContext,
        games: Games,
        session: HouseSession,
        lobby: Lobby,
    ) -> None:
        self._reason = reason[:300]
        self._failed = failed
        self._settings = settings
        self._bus = context.bus
        self._house = context.name
        self._games = games
        self._session = session
        self._lobby = lobby
        self._roster = lobby.roster
        self._waiting = WaitingNotice(None)
        self._began: float | None = None
        self._called_at: float | None = None
        self._announced_at: float | None = None
        self._error: BusError | None = None

    def send_failed(self, error: BusError) -> None:
        """Record that something could not be posted on the ``games`` stream."""
        self._error = error

    def advance(self, now: float) -> TermEnd | None:
        """Do what can be done now, once all games are over; returns how it ended when all is done.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        self._session.catch_up(self._bus, self._house)
        self._began = now if self._began is None else self._began
        if self._announced_at is not None:
            return self._finish(now, self._announced_at)
        # what agents say now is accounted for, and can be cut away at the end
        self._games.send_cursors()
        if self._session.under_way:
            # the word that these have failed is still on its way
            return self._check_overdue(now, self._began)
        if self._called_at is None:
            # how far everybody has read is asked once more, so that little is left behind
            self._called_at = now
            self._games.tell([(name, RollCall()) for name in self._lobby.names])
        if not self._waits_for_archive(now) and self._all_answered(now, self._called_at):
            self._announce()
            self._announced_at = now
        return None

    def close_now(self, seconds: float, fail: Callable[[str, int, str], None]) -> TermEnd | None:
        """Break off the games under way, close the house and wait only until that is told.

        Args:
            seconds: how long games may take to end, and then the news to land, > 0.
            fail: tells of a game (id, number, why) that it failed, where that cannot do so itself.

        Returns:
            How the term ended; None if the house was closed already, or cannot be closed.
        """
        try:
            self._games.break_off(WolfError(self._reason), wait_s=seconds)
            self._session.catch_up(self._bus, self._house)
            if not self._session.running:
                return None
            for game, number in self._session.under_way.items():
                fail(game, number, self._reason)
            self._announce()
            if self._landed(seconds):
                return TermEnd("closed", self._reason, self._failed)
        except BusError as error:
            logger.warning("the house could not be closed: %s", error)
        except Exception:
            logger.exception("the house could not be closed")
        return None

    @property
    def _failures(self) -> int:
        """Games that failed or never ended, or whose record could not be archived."""
        return self._session.failed + len(self._session.under_way) + self._session.lost

    def _announce(self) -> None:
        session = self._session
        closed = HouseClosed(session=session.name, games=session.games, failed=self._failures, reason=self._reason)
        goodbye = Goodbye(reason=self._reason)
        self._games.announce(closed, [(name, goodbye) for name in sorted(self._lobby.everybody)])

    def _landed(self, seconds: float) -> bool:
        until, tick = time.monotonic() + seconds, threading.Event()
        while time.monotonic() < until:
            self._session.catch_up(self._bus, self._house)
            if not self._session.running and self._games.is_idle:
                return True
            tick.wait(_POLL_S)
        return not self._session.running

    def _all_answered(self, now: float, since: float) -> bool:
        """Return whether all who are here have answered the roll call, as far as we can wait."""
        waits = now - since < min(ROLL_CALL_S, self._settings.heartbeat_s)
        return not waits or all(
            member.heard_at >= since or not self._roster.is_present(name, now)
            for name, member in self._roster.members.items()
        )

    def _waits_for_archive(self, now: float) -> bool:
        missing = len(self._session.closed)
        present = self._roster.present(now, "analytics")
        if not missing or not (self._settings.archive or present):
            return False
        line = f"waiting until analytics has archived {counted(missing, 'game')}"
        if not present:
            line += "; no analytics service is here"
        if self._waiting.is_due(line, now):
            logger.info("%s", line)
            # what it has said of them may have been lost with a Redis's last second
            for agent in present:
                self._lobby.welcome(agent, self._roster.members[agent].join)
        return True

    def _finish(self, now: float, since: float) -> TermEnd | None:
        if self._session.running:
            return self._check_overdue(now, since)
        if not self._games.is_idle and now - since < LANDING_S:
            # not every mailbox may take its goodbye together with the others
            return None
        if self._lobby.tickets is not None:
            if not self._all_left(now, since):
                return None
            _revoke_tickets(self._lobby.tickets)
        self._tidy()
        games = counted(self._session.games, "game")
        summary = f"{self._reason}; {games}, {self._failures} failed"
        return TermEnd("closed", summary, self._failed or self._failures > 0)

    def _check_overdue(self, now: float, since: float) -> TermEnd | None:
        if self._error is None and now - since < LANDING_S:
            return None
        why = self._error or "the bus does not take it"
        return TermEnd("lost", f"the house could not be closed: {why}", failed=True)

    def _all_left(self, now: float, since: float) -> bool:
        """Return whether nobody needs a ticket any more, as far as we can wait."""
        patience = self._settings.heartbeat_s
        if self._roster.present(since, "analytics"):
            patience *= ANALYTICS_HEARTBEATS
        left = all(member.left for member in self._roster.members.values())
        return left or now - since >= patience

    def _tidy(self) -> None:
        """Leave as little as can be on the bus; nobody plays any more."""
        members = sorted(self._roster.members.items())
        seen = [(streams.inbox(self._house, name), member.join.seen) for name, member in members]
        trim_all(self._bus, [*sorted(self._bus.cursors(self._house).items()), *seen])


def finish_closed(
    bus: Bus, settings: ModeratorSettings, claim: Claim, tickets: Tickets | None, stopping: Stopping
) -> TermEnd | None:
    """Finish the session whose moderator we come after, if it was closed.

    That is one that was closed while we stood by, or whose moderator never released the house.

    Args:
        bus: where the house is; it is claimed.
        settings: what the service was told.
        claim: ours; the house is released by whoever asks for this.
        tickets: to be taken back; None for none.
        stopping: ends the wait before that.

    Returns:
        How that session ended; None if there is none to finish.

    Raises:
        BusError: the bus is away, or the house is another's now.
    """
    house, session = settings.house, Session()
    session.catch_up(bus, house)
    if session.running or session.end is None:
        return None
    end = session.end
    meanwhile = claim.stood_by and parse_id(end.id) > parse_id(claim.news_before)
    if not (meanwhile or claim.broken_off):
        return None
    if claim.broken_off:
        logger.warning("session %s was closed by a moderator that broke off then; its end is finished", session.name)
        names = outbox_names(house, bus.cursors(house))
        names |= set(tickets.read()) if tickets else lobby_senders(bus, streams.lobby(house))
        _say_goodbye(bus, house, claim.epoch, names, end.news.reason)
        if tickets is not None:
            # who hears it only now still has to say so
            stopping.wait(settings.heartbeat_s)
            _revoke_tickets(tickets)
    return TermEnd("closed", f"by another moderator: {end.news.reason}", end.news.failed > 0)


def _revoke_tickets(tickets: Tickets) -> None:
    """Take all tickets back; that it cannot be done is only said. Raises BusDown."""
    try:
        logger.info("%s taken back", counted(tickets.revoke_all(), "ticket"))
    except BusDown:
        raise
    except BusError as error:
        logger.warning("the tickets stay as they are: %s", error)


def _say_goodbye(bus: Bus, house: str, epoch: int, everybody: set[str], reason: str) -> None:
    names = sorted(name for name in everybody if re.fullmatch(ID_PATTERN, name))
    entry = house_entry(Goodbye(reason=reason))
    goodbyes = [Commit(house, "", epoch, "", "", posts=[(streams.inbox(house, name), entry)]) for name in names]
    for name, error in zip(names, bus.commit(goodbyes), strict=True):
        if isinstance(error, Fenced):
            raise error
        if error is not None:
            logger.debug("%s cannot be told goodbye: %s", name, error, extra={"agent": name})


class CloseWatchdog:
    """Closes a bus that still blocks some seconds after a term should have ended, on a thread of its own.

    Args:
        bus: the bus.
        is_ending: tells whether the term should end.
    """

    def __init__(self, bus: Bus, is_ending: Callable[[], bool]) -> None:
        self._bus = bus
        self._is_ending = is_ending
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._wait, name="close-watchdog", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching: the term has ended."""
        self._ended.set()
        self._thread.join()

    def _wait(self) -> None:
        until: float | None = None
        while not self._ended.wait(_WATCH_S):
            if self._is_ending():
                until = until or time.monotonic() + END_S
                if time.monotonic() >= until:
                    self._bus.close()
                    return
