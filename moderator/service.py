"""The moderator as a service: it stands by until a house is free, moderates it, and stands by again if it loses it."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import socket
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from moderator.house.closing import finish_closed
from moderator.house.host import Host
from moderator.house.lease import TermEnd, stand_by
from moderator.house.roster import Tickets, count_tickets
from moderator.house.settings import Agenda, GameReport, ModeratorSettings
from moderator.house.term import ClaimedHouse
from wolfbus.bus.protocol import Bus
from wolfbus.errors import BusDown, WolfError
from wolfbus.files.printable import counted
from wolfbus.game.fresh import fresh_name
from wolfbus.service.lifecycle import Health, Stopping, await_bus
from wolfbus.service.session import Session

logger = logging.getLogger(__name__)

LOSSES: Final = 3
"""Times within `LOSSES_WITHIN_S` seconds that a moderator begins anew because the bus has gone backwards."""

LOSSES_WITHIN_S: Final = 60.0


def moderate(
    settings: ModeratorSettings,
    stopping: Stopping,
    health: Health,
    report: Callable[[GameReport], None] = lambda _report: None,
) -> TermEnd:
    """Moderate a house until its session closes, or somebody asks to stop.

    Args:
        settings: what to do.
        stopping: asked when this process should end; the games are then left to the next moderator.
        health: told how it goes: standing by, waiting for agents, playing, closing.
        report: called with the result of every game, from this thread.

    Returns:
        How the last term ended; `failed` if a game failed, could not be archived, found too few agents, or the bus was
        lost.

    Raises:
        ConfigError: the bus's address cannot be understood.
        BusError: the bus cannot be reached, or refuses what a moderator needs; one clear line.
        WolfError: the house is in the middle of games that are not on the agenda.
    """
    holder = _holder_name()
    ended: TermEnd | None = None
    losses: deque[float] = deque()
    while True:
        try:
            ended = _term(settings, holder, stopping, health, report, ended)
        except BusDown:
            if not stopping.requested:
                raise
            ended = TermEnd("handed over", stopping.why)
        if ended.outcome == "fenced":
            logger.warning("stepping down: %s", ended.reason)
        elif ended.outcome == "anew":
            logger.warning("beginning anew: %s", ended.reason)
            losses.append(time.monotonic())
            while losses[-1] - losses[0] > LOSSES_WITHIN_S:
                losses.popleft()
            if len(losses) > LOSSES:
                logger.error(
                    "the bus loses what it was given, again and again (%d times within %g s): %s",
                    len(losses),
                    LOSSES_WITHIN_S,
                    ended.reason,
                )
                return replace(ended, failed=True)
        elif ended.outcome == "lost":
            logger.error("%s", ended.reason)
            return replace(ended, failed=True)
        else:
            closed = "house closed" if ended.outcome == "closed" else "handed over"
            logger.info("%s: %s", closed, ended.reason)
            return ended


def _term(
    settings: ModeratorSettings,
    holder: str,
    stopping: Stopping,
    health: Health,
    report: Callable[[GameReport], None],
    before: TermEnd | None,
) -> TermEnd:
    with contextlib.ExitStack() as stack:
        bus = await_bus(settings.url, stopping, health)
        if bus is None:
            return TermEnd("handed over", stopping.why)
        stack.callback(bus.close)
        if before is None and not bus.in_process:
            from wolfbus.bus.redis.pool import warn_of_eviction

            warn_of_eviction(settings.url)
        tickets = Tickets(settings.url, settings.house) if settings.tickets else None
        if tickets is not None:
            stack.callback(tickets.close)
        claim = stand_by(bus, settings, holder, stopping, health, before)
        if isinstance(claim, TermEnd):
            return claim
        if settings.agenda is not None and (other := _other_session(bus, settings.house, settings.agenda)):
            bus.release(settings.house, holder, claim.epoch)
            raise WolfError(
                f"house {settings.house} is in the middle of session {other}, which is another's: let a moderator end "
                f"it (wolfbus moderator --house {settings.house}), or take another --house"
            )
        # whatever was closed, an agenda is gone through
        ended = finish_closed(bus, settings, claim, tickets, stopping) if settings.agenda is None else None
        if ended is not None:
            bus.release(settings.house, holder, claim.epoch)
            return ended
        logger.info("moderating house %s on %s, epoch %d", settings.house, bus.url, claim.epoch)
        if tickets is None and settings.agenda is None and (holders := count_tickets(settings.url, settings.house)):
            logger.warning(
                "house %s has %s: without --tickets, who holds one, and never played here, is not heard",
                settings.house,
                counted(holders, "ticket"),
            )
        playing = before.playing if before is not None else ()
        return Host(ClaimedHouse(bus, settings, claim, stopping, health, report, tickets)).run(playing)


def _other_session(bus: Bus, house: str, agenda: Agenda) -> str | None:
    """Return the session that a house is in the middle of, if it is not one of these games."""
    session = Session()
    session.catch_up(bus, house)
    return session.name if session.running and not agenda.is_own(session.name) else None


def _holder_name() -> str:
    """Return a name that no other process has."""
    host = re.sub(r"[^A-Za-z0-9.-]+", "-", socket.gethostname())[:40]
    return fresh_name(f"{host}-{os.getpid()}")
