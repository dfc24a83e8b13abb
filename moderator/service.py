"""The moderator as a service: it stands by until a house is free, moderates it, and stands by again if it loses it."""

from __future__ import annotations

import contextlib
import logging
import os
import re
import secrets
import socket
from collections.abc import Callable

from moderator.departure import Departure
from moderator.host import Host
from moderator.lease import Claim, stand_by
from moderator.session import Session
from moderator.settings import GameResult, Settings
from moderator.tickets import Tickets
from wolfbus.bus import Bus
from wolfbus.bus.ids import parse_id
from wolfbus.service.health import Health
from wolfbus.service.opening import open_when_there
from wolfbus.service.stop import Stopping

logger = logging.getLogger(__name__)


def serve(
    settings: Settings,
    stopping: Stopping,
    health: Health,
    told: Callable[[GameResult], None] = lambda _result: None,
) -> int:
    """Moderate a house until its session closes, or somebody asks to stop.

    Args:
        settings: what to do.
        stopping: asked when this process should end; the games are then left to the next moderator.
        health: told how it goes: standing by, waiting for agents, playing, closing.
        told: called with the result of every game, from this thread.

    Returns:
        Exit code: 0, or 1 if a game failed, could not be archived, found too few agents, or the bus was lost.

    Raises:
        ConfigError: the bus's address cannot be understood.
        BusError: the bus cannot be reached, or refuses what a moderator needs; one clear line.
    """
    holder = _holder()
    while True:
        departure = _term(settings, holder, stopping, health, told)
        if departure.how in {"fenced", "anew"}:
            logger.warning("stepping down: %s", departure.reason)
        elif departure.how == "lost":
            logger.error("%s", departure.reason)
            return 1
        else:
            closed = "house closed" if departure.how == "closed" else "handed over"
            logger.info("%s: %s", closed, departure.reason)
            return int(departure.failed)


def _term(
    settings: Settings, holder: str, stopping: Stopping, health: Health, told: Callable[[GameResult], None]
) -> Departure:
    with contextlib.ExitStack() as ending:
        bus = open_when_there(settings.url, stopping, health)
        if bus is None:
            return Departure("handed over", stopping.why)
        ending.callback(bus.close)
        tickets = Tickets(settings.url, settings.house) if settings.tickets else None
        if tickets is not None:
            ending.callback(tickets.close)
        health.set("standing by")
        claim = stand_by(bus, settings.house, holder, settings.lease_s, stopping)
        if claim is None:
            return Departure("handed over", stopping.why)
        if claim.stood_by and (departure := _closed_meanwhile(bus, settings.house, claim)) is not None:
            return departure
        logger.info("moderating house %s on %s, epoch %d", settings.house, bus.url, claim.epoch)
        return Host(bus, settings, claim.epoch, stopping, health, told, tickets).run()


def _closed_meanwhile(bus: Bus, house: str, claim: Claim) -> Departure | None:
    """Return how the session ended that we stood by for, if another moderator has closed it."""
    session = Session()
    session.catch_up(bus, house)
    if session.running or session.end is None or parse_id(session.end.id) <= parse_id(claim.news_before):
        return None
    bus.release(house, claim.epoch)
    return Departure("closed", f"by another moderator: {session.end.news.reason}", session.end.news.failed > 0)


def _holder() -> str:
    """Return a name that no other process has."""
    host = re.sub(r"[^A-Za-z0-9.-]+", "-", socket.gethostname())[:40]
    return f"{host}-{os.getpid()}-{secrets.token_hex(3)}"
