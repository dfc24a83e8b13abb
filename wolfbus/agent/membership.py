"""Being a member of a house, as every process of agents and analytics is one: from what it says of itself in its first
`join` to the goodbye.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import re
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from wolfbus.actors import Timers
from wolfbus.agent.member import Member, MembershipEnd, Resident, fresh_instance
from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Bus
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import BusError, ConfigError, WolfError, first_fault
from wolfbus.files.lock import lock
from wolfbus.files.printable import counted
from wolfbus.files.user_secret import user_folder
from wolfbus.messages.house import Join
from wolfbus.service.lifecycle import Health, Stopping, await_bus

logger = logging.getLogger(__name__)

GRACE_S: Final = 8.0
"""Seconds in which games under way may be played to their end after a request to stop."""

TELL_S: Final = 30.0
"""Seconds that an agent which cannot play waits for a moderator to hear why: services of a house start together."""

_TOLD_SOON_S: Final = 1.0
_POLL_S: Final = 0.2
_FLUSH_S: Final = 2.0
_AWAY_S: Final = 60.0
"""A bus that is still away is found so twice in this time, by its usual patience."""


def introduce(name: str, **fields: Any) -> Join:
    """Return what an agent says of itself.

    Args:
        name: its name in the house.
        fields: further fields of `Join`.

    Raises:
        ConfigError: a field that no message can hold; the line names it.
    """
    try:
        return Join(agent=name, instance=fresh_instance(), **fields)
    except ValidationError as error:
        raise ConfigError(f"agent {name[:80]!r}: {first_fault(error)}") from None


@dataclass(frozen=True, slots=True)
class Membership:
    """Where an agent goes, and for how long.

    Attributes:
        url: the bus.
        house: the house's name.
        introduction: what the agent says of itself; see `introduce`.
        once: leave after the first game.
        grace_s: seconds that games under way are played on after a request to stop.
        stays: go on after the house has said goodbye, until somebody asks to stop.
    """

    url: str = field(repr=False)
    house: str
    introduction: Join
    once: bool = False
    grace_s: float = GRACE_S
    stays: bool = False

    def run(
        self, make: Callable[[Member], Resident], stopping: Stopping, health: Health | None = None
    ) -> MembershipEnd:
        """Play until the house says goodbye or somebody asks to stop. A bus that is not up yet is waited for, as long
        as its address has patience.

        Args:
            make: makes what lives in the house as this member.
            stopping: asked when this process should end.
            health: told how it goes.

        Returns:
            Why it is over.

        Raises:
            WolfError: the bus cannot be reached; `ConfigError` where the house does not take the agent, or another
                process has its name.
        """
        health = health or Health(None)
        ends: list[MembershipEnd] = []

        def over(end: MembershipEnd) -> None:
            ends.append(end)
            if not self.stays or end.error is not None:
                stopping.ask(end.reason)

        with contextlib.ExitStack() as stack:
            bus = await_bus(self.url, stopping, health)
            if bus is None:
                return MembershipEnd(stopping.why)
            logger.info("%s joins house %s on %s", self.introduction.agent, self.house, bus.url)
            member, resident = self._come_in(stack, bus, self.introduction, make, over)
            self._wait_to_leave(member, resident, stopping, health)
            if not ends:
                reason = stopping.why or "its game is over"
                if stopping.requested:
                    self._finish_games(member, resident, ends, health)
                member.leave(reason, failed=stopping.failed)
                ends.append(MembershipEnd(reason))
            health.set("leaving", ok=ends[0].error is None)
        if ends[0].error is not None:
            raise ends[0].error
        return ends[0]

    def decline(self, reason: str) -> None:
        """Come into the house only to say why this agent cannot play, so that nobody waits for its seats.

        Where the bus cannot be reached at once, or no moderator hears of it, nobody is told; no error is raised.

        Args:
            reason: why, in a line.
        """
        visitor = _Visitor()
        introduction = self.introduction.model_copy(update={"seats": 0})
        try:
            with contextlib.ExitStack() as stack:
                bus = open_bus(self.url)
                member, _ = self._come_in(stack, bus, introduction, lambda _: visitor, lambda _: visitor.welcomed.set())
                if not visitor.welcomed.wait(_TOLD_SOON_S):
                    logger.warning(
                        "%s cannot play: %s; up to %g s for a moderator of house %s to be told so",
                        member.name,
                        reason,
                        TELL_S,
                        self.house,
                    )
                    visitor.welcomed.wait(TELL_S - _TOLD_SOON_S)
                member.leave(reason, failed=True)
        except WolfError as error:
            logger.debug("nobody is told: %s", error)

    def _come_in(
        self,
        stack: contextlib.ExitStack,
        bus: Bus,
        introduction: Join,
        make: Callable[[Member], Resident],
        over: Callable[[MembershipEnd], None],
    ) -> tuple[Member, Resident]:
        """Become a member of the house, and have all of it end with `stack`, the bus included."""
        stack.callback(bus.close)
        timers = Timers("agent-timers")

        def failed(error: BusError) -> None:
            member.bus_failed(error)

        writer = BusWriter(bus, on_error=failed)
        reader = BusReader(bus, on_error=failed)
        member = Member(self.house, introduction, bus, reader, writer, timers, over=over, once=self.once)
        stack.callback(timers.close)
        # no timer waits for a bus that is closed
        stack.callback(bus.close)
        stack.callback(_flush, writer, bus)
        stack.callback(reader.close)
        resident = make(member)
        stack.callback(resident.close)
        writer.start()
        # first of all it says that it is here
        member.start(resident)
        reader.start()
        return member, resident

    def _wait_to_leave(self, member: Member, resident: Resident, stopping: Stopping, health: Health) -> None:
        """Return when it is time to leave."""
        while not stopping.wait(_POLL_S):
            if self.once and resident.played and not resident.playing:
                return
            is_away = member.away_s < _AWAY_S
            state, numbers = resident.report()
            health.set("the bus is away" if is_away else state, not is_away, **numbers)

    def _finish_games(self, member: Member, resident: Resident, ends: list[MembershipEnd], health: Health) -> None:
        """Take no new games, and play those under way on for a while."""
        if resident.playing:
            logger.info("%s under way: playing on for up to %g s", counted(resident.playing, "game"), self.grace_s)
        member.retire()
        health.set("stopping", True, **resident.report()[1])
        until = time.monotonic() + self.grace_s
        waiting = threading.Event()
        while resident.playing and not ends and time.monotonic() < until:
            waiting.wait(_POLL_S)


class _Visitor:
    """Lives in a house only until a moderator knows of it.

    Attributes:
        welcomed: set once one does, or none will.
    """

    playing = played = 0

    def __init__(self) -> None:
        self.welcomed = threading.Event()

    def deliver(self, _entries: object, /) -> None:
        """Pass over what is said of games: it has no seats."""

    def welcome(self) -> None:
        """Note that a moderator knows of it."""
        self.welcomed.set()

    def rejoined(self) -> None:
        """Do nothing: nothing was missed."""

    def report(self) -> tuple[str, dict[str, int]]:
        """Return that it leaves."""
        return "leaving", {}

    def close(self) -> None:
        """There is nothing to close."""


@contextlib.contextmanager
def close_if_slow(bus: Bus) -> Iterator[None]:
    """Close the bus if what is done meanwhile takes long: one that is away is not waited for."""
    timer = threading.Timer(_FLUSH_S, bus.close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _flush(writer: BusWriter, bus: Bus) -> None:
    """Send what waits to be sent."""
    with close_if_slow(bus):
        writer.close()


@cache
def default_name(prefix: str = "") -> str:
    """Return a name that no other process of this host has, and that a process started again in the same way has again:
    the host's, a sum over what it was started with, and the first number whose lock no living process has.

    Where locks cannot be kept, the process's number stands in place of sum and number.
    """
    words = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{prefix}-{socket.gethostname()}").strip("-._")[:48].rstrip("-._")
    settings = sorted(item for item in os.environ.items() if item[0].startswith("WOLFBUS_"))
    try:
        started_with = repr((os.getuid(), sys.argv, Path.cwd(), settings)).encode(errors="replace")
        stem = f"{words or 'agent'}-{hashlib.sha256(started_with).hexdigest()[:6]}"
        folder = user_folder() / "names"
        folder.mkdir(parents=True, exist_ok=True)
        # the lock stays with the process: nobody closes it
        return next(name for number in count(1) if lock(folder / (name := f"{stem}-{number}")) is not None)
    except (OSError, RuntimeError) as error:
        logger.debug("no name can be kept: %s", error)
        return f"{words or 'agent'}-{os.getpid()}"
