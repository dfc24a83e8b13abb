"""`Member`: one agent's place in a house: its mailbox, what it sends, and that the moderator knows it is there."""

from __future__ import annotations

import logging
import math
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Final, Protocol

from wolfbus.actors import Timer, Timers
from wolfbus.agent.outbox import Outbox
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import (
    BusDown,
    BusError,
    ConfigError,
    MessageError,
    NotAllowed,
    StaleWriter,
    VersionError,
    WolfError,
)
from wolfbus.messages.codec import decode_mail, encode
from wolfbus.messages.house import Join, Leave, Welcome
from wolfbus.service.session import is_lost, lost_data

logger = logging.getLogger(__name__)

HEARTBEAT_S: Final = 5.0
"""Seconds between two `join` until a moderator says how often it wants one."""

UNANSWERED_S: Final = 30.0
"""Seconds without an answer from a moderator after which that is logged, each time anew."""

REJOIN_S: Final = 2.0
"""Seconds between two fresh starts at least: each makes the moderator tell every game from its beginning."""

KNOCK_EVERY: Final = 6
"""A member that is welcome knocks with every so many `join`: a moderator that lost its data does not know it."""

_SHORTEST_S: Final = 0.02
_LONGEST_S: Final = 600.0


class Resident(Protocol):
    """What lives in a house under a member's name: an agent's seats, or a service. `deliver`, `welcome` and `again`
    are called from threads of the bus and should only pass things on.
    """

    @property
    def playing(self) -> int:
        """Games under way, which are played on for a while after a request to stop."""

    @property
    def played(self) -> int:
        """Games that are over."""

    def deliver(self, entries: Sequence[Entry], /) -> None:
        """Take what is said of games, in order: deliveries, and that a game was dropped; perhaps what nobody knows."""

    def welcome(self) -> None:
        """React to a moderator's welcome. One that does not know the member yet says it: that of the house on each
        fresh start, and each that comes after it.
        """

    def rejoined(self) -> None:
        """React to a fresh start of the member: all that runs will be caught up."""

    def report(self) -> tuple[str, dict[str, int]]:
        """Return its state in a word, and numbers, for whoever watches the process."""

    def close(self) -> None:
        """End, and return when nothing more will be sent."""


@dataclass(frozen=True, slots=True)
class MembershipEnd:
    """Why a member's time in the house is over.

    Attributes:
        reason: in one line.
        error: why it could not go on; None if the house closed. `ConfigError` where another start would not help: the
            house does not take the agent, or another process has its name.
    """

    reason: str
    error: WolfError | None = None


class Member:
    """An agent in a house. All methods are safe from any thread.

    1. `start` reads the mailbox from what is new on it, says `join` on the agent's out stream, and knocks at the lobby.
    2. It says `join` again as often as the moderator wants, and at once when the roll is called.
    3. When the mailbox lost something, or `rejoin` is called because facts are missing, it joins as a fresh start, and
       the moderator catches it up.
    4. `over` is called once: when the house says goodbye, does not take the agent, or another process writes under its
       name.

    Args:
        house: the house's name.
        introduction: what the agent says of itself; each start of it has an `instance` of its own.
        bus: where its streams are.
        reader: the process's bus reader.
        writer: the process's bus writer; its `on_error`, like the reader's, should be `bus_failed`.
        timers: the process's timers; they wait while the bus is away.
        over: called once, from a thread of the bus, when there is nothing more to do.
        once: take no new games once the first has begun.

    Attributes:
        outbox: what it sends.

    Raises:
        BusDown: the bus is away.
        NotAllowed: the agent's streams are somebody else's.
    """

    _resident: Resident

    def __init__(
        self,
        house: str,
        introduction: Join,
        bus: Bus,
        reader: BusReader,
        writer: BusWriter,
        timers: Timers,
        *,
        over: Callable[[MembershipEnd], None],
        once: bool = False,
    ) -> None:
        self._introduction = introduction
        self._once = once
        self._house = house
        self.bus = bus
        self.reader = reader
        self.timers = timers
        self._over = over
        self._heartbeat_s = HEARTBEAT_S
        self._instance = fresh_instance()
        self._inbox = streams.inbox(house, self.name)
        self._seats = introduction.seats
        self._seen: str | None = None
        self._lock = threading.Lock()
        self._heartbeat_timer: Timer | None = None
        self._rejoin_timer: Timer | None = None
        self._heartbeats = 0
        self._lobby_is_closed = False
        self._is_welcome = False
        self._joining_since = self._warned_at = self._joined_at = time.monotonic()
        self._bus_away_at = -math.inf
        self._closed = False
        self.outbox = Outbox(house, self.name, bus, writer)

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._introduction.agent

    @property
    def welcome(self) -> bool:
        """Whether the moderator knows the agent as it is now."""
        return self._is_welcome

    @property
    def away_s(self) -> float:
        """Seconds since the bus was last found to be away; infinite where mail has come, or a knock has gone, since."""
        return time.monotonic() - self._bus_away_at

    def start(self, resident: Resident) -> None:
        """Come into the house; nothing is received before.

        Args:
            resident: takes what the mailbox says of games.

        Raises:
            BusDown: the bus is away.
            NotAllowed: the mailbox is somebody else's.
        """
        self._resident = resident
        self.reader.follow(self._inbox, self._receive, self.bus.last_id(self._inbox), self._on_loss)
        self._send_join()
        self._knock()
        self._schedule_heartbeat()

    def rejoin(self, why: str) -> None:
        """Join as a fresh start, soon: something was missed, for the reason given."""
        with self._lock:
            if self._closed or self._rejoin_timer is not None:
                return
            wait = self._joined_at + REJOIN_S - time.monotonic()
            self._rejoin_timer = self._after(max(wait, 0.0), partial(self._rejoin_now, why))

    def caught_up(self) -> None:
        """Cancel a fresh start that was to come: nothing is missing any more."""
        with self._lock:
            if self._rejoin_timer is not None:
                self._rejoin_timer.cancel()
                self._rejoin_timer = None

    def retire(self) -> None:
        """Take no new games; those under way go on."""
        self._seats = 0
        self._send_join()

    def began(self) -> None:
        """Take no new games from here on, if one is enough: the moderator hears of it before any answer in this one."""
        if self._once and self._seats:
            self.retire()

    def leave(self, reason: str, *, failed: bool = False) -> None:
        """Say that the agent goes; nothing is sent or heard afterwards. Leaving again does nothing.

        Args:
            reason: why.
            failed: whether it goes because it cannot play.
        """
        if self._close():
            leave = Leave(agent=self.name, instance=self._instance, reason=reason[:300], failed=failed)
            self.outbox.send("", encode(leave), "leave")

    def bus_failed(self, error: BusError) -> None:
        """Take in what the process's reader or writer says of the bus."""
        if isinstance(error, BusDown):
            self._bus_away_at = time.monotonic()
            if not self._closed:
                logger.warning("%s; waiting for it", error)
        elif isinstance(error, StaleWriter):
            # no failure, after which supervisors would start it again, for the two to throw each other out for ever
            self._end(ConfigError(f"another process plays as {self.name} in house {self._house}; this one leaves"))
        elif isinstance(error, NotAllowed):
            # its ticket was taken back, or is for another
            self._end(
                NotAllowed(f"{self.bus.url} does not let this user be {self.name} in house {self._house}: {error}")
            )
        else:
            logger.error("%s", error)

    def _receive(self, _stream: str, entries: Sequence[Entry]) -> None:
        self._bus_away_at = -math.inf
        for is_of_game, group in groupby(entries, lambda entry: bool(entry.game) or entry.type == "dropped"):
            if not is_of_game:
                for entry in group:
                    self._handle(entry)
            elif not self._closed:
                self._resident.deliver(list(group))
        self._seen = entries[-1].id

    def _handle(self, entry: Entry) -> None:
        try:
            message = decode_mail(entry.content)
        except VersionError as error:
            logger.debug("a message of the house is passed over: %s", error)
            return
        except MessageError as error:
            logger.warning("a message of the house cannot be read: %s", error)
            return
        if message is None:
            return
        if message.type == "welcome":
            self._accept_welcome(message)
        elif message.type == "roll_call":
            self._send_join()
        elif message.type == "goodbye":
            if self._close():
                logger.debug("the house closes: %s", message.reason)
                self._over(MembershipEnd(message.reason))
        elif message.type == "refused" and message.instance == self._instance:
            self._end(ConfigError(f"the moderator of house {self._house} does not take {self.name}: {message.reason}"))

    def _accept_welcome(self, message: Welcome) -> None:
        if message.instance != self._instance:
            return
        self._heartbeat_s = min(max(message.again_s, _SHORTEST_S), _LONGEST_S)
        if not self._is_welcome:
            logger.info("%s is welcome in house %s", self.name, self._house)
        self._is_welcome = True
        self._schedule_heartbeat()
        if not self._closed:
            self._resident.welcome()

    def _join(self) -> bytes:
        now = {"instance": self._instance, "seats": self._seats, "seen": self._seen}
        return encode(self._introduction.model_copy(update=now))

    def _send_join(self) -> None:
        if not self._closed:
            self.outbox.send("", self._join(), "join")

    def _knock(self) -> None:
        """Say `join` in the lobby, for a moderator that does not know this agent; where it is closed, all are known."""
        if self._lobby_is_closed or self._closed:
            return
        try:
            self.bus.post(streams.lobby(self._house), Entry(self._join(), "join", self.name))
        except NotAllowed as error:
            self._lobby_is_closed = True
            logger.debug("the lobby is closed: %s", error)
        except BusError as error:
            logger.debug("%s could not knock: %s", self.name, error)
        else:
            self._bus_away_at = -math.inf

    def _send_heartbeat(self) -> None:
        self._heartbeats += 1
        try:
            self._send_join()
            if not self._is_welcome:
                self._warn_unanswered()
            if not self._is_welcome or self._heartbeats % KNOCK_EVERY == 0:
                self._knock()
        finally:
            self._schedule_heartbeat()

    def _schedule_heartbeat(self) -> None:
        with self._lock:
            if self._heartbeat_timer is not None:
                self._heartbeat_timer.cancel()
            self._heartbeat_timer = None if self._closed else self._after(self._heartbeat_s, self._send_heartbeat)

    def _after(self, seconds: float, callback: Callable[[], object]) -> Timer | None:
        try:
            return self.timers.after(seconds, callback)
        except RuntimeError as error:
            logger.debug("%s says join no more: %s", self.name, error)
            return None

    def _warn_unanswered(self) -> None:
        now = time.monotonic()
        if now - self._warned_at >= UNANSWERED_S:
            self._warned_at = now
            waited = now - self._joining_since
            line = f"no moderator answers in house {self._house} on {self.bus.url} (for {waited:.0f} s now)"
            if self._lobby_is_closed:
                line += f"; {self.name} may not write to its lobby, so only one with --tickets hears of it"
            logger.warning("%s", line)

    def _on_loss(self, error: BusError) -> None:
        if not self._closed:
            logger.warning("%s; asking to be caught up", error)
        self._follow_again()

    def _follow_again(self) -> None:
        """Follow the mailbox from what is new on it now; only then ask for what was missed."""
        if self._closed:
            return
        try:
            last = self.bus.last_id(self._inbox)
            # analytics has results to write first, and looks for itself
            if self._introduction.service == "player" and is_lost(self.bus, self._house):
                self._end(BusError(lost_data(self._house)))
                return
        except BusError as error:
            logger.debug("the mailbox of %s cannot be read: %s", self.name, error)
            self._after(1.0, self._follow_again)
            return
        # what was read before may be beyond the end of what is left
        self._seen = None
        self.reader.follow(self._inbox, self._receive, last, self._on_loss)
        self.rejoin("the mailbox lost what was not read")

    def _rejoin_now(self, why: str) -> None:
        with self._lock:
            self._rejoin_timer = None
            if self._closed:
                return
            self._instance = fresh_instance()
            self._is_welcome = False
            self._joining_since = self._warned_at = self._joined_at = time.monotonic()
        logger.info("%s joins anew: %s", self.name, why)
        # before `join` is sent: the catch-up that answers it must find everybody prepared
        self._resident.rejoined()
        self._send_join()
        self._schedule_heartbeat()

    def _end(self, error: WolfError) -> None:
        if self._close():
            self._over(MembershipEnd(str(error), error))

    def _close(self) -> bool:
        """Stop receiving and saying `join`; return whether this call did it."""
        with self._lock:
            if self._closed:
                return False
            self._closed = True
            for timer in (self._heartbeat_timer, self._rejoin_timer):
                if timer is not None:
                    timer.cancel()
        self.reader.unfollow(self._inbox)
        return True


def fresh_instance() -> str:
    """Return what names one start of an agent."""
    return secrets.token_hex(8)
