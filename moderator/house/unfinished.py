"""A session that another moderator has closed: nothing is opened after it, and what it did not get done is finished.

A moderator that is killed after it closed the house, but before it had let go of it, has perhaps not taken tickets
back, nor said goodbye to everybody. Whoever is started in its place does that and leaves, for nothing else is
left to do.
"""

from __future__ import annotations

import logging
import re

from moderator.house.departure import Departure
from moderator.house.lease import Claim
from moderator.house.lobby import who_knocked, who_wrote
from moderator.house.session import Session
from moderator.house.settings import Settings
from moderator.house.tickets import Tickets
from wolfbus.bus import streams
from wolfbus.bus.ids import parse_id
from wolfbus.bus.protocol import Bus, Commit, Entry
from wolfbus.errors import BusDown, BusError, Fenced
from wolfbus.messages.base import ID_PATTERN
from wolfbus.messages.codec import encode
from wolfbus.messages.house import Goodbye
from wolfbus.service.stop import Stopping

logger = logging.getLogger(__name__)


def finish_closed(
    bus: Bus, settings: Settings, claim: Claim, tickets: Tickets | None, stopping: Stopping
) -> Departure | None:
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
        names = _everybody(bus, house, tickets)
        _say_goodbye(bus, house, claim.epoch, names, end.news.reason)
        if tickets is not None:
            # who hears it only now still has to say so
            stopping.wait(settings.heartbeat_s)
            take_back(tickets)
    return Departure("closed", f"by another moderator: {end.news.reason}", end.news.failed > 0)


def take_back(tickets: Tickets) -> None:
    """Take all tickets back; that it cannot be done is only said. Raises BusDown."""
    try:
        logger.info("%d tickets are taken back", tickets.revoke(tickets.holders))
    except BusDown:
        raise
    except BusError as error:
        logger.warning("the tickets stay as they are: %s", error)


def _everybody(bus: Bus, house: str, tickets: Tickets | None) -> list[str]:
    names = who_wrote(house, bus.cursors(house))
    names |= set(tickets.read()) if tickets is not None else who_knocked(bus, streams.lobby(house))
    return sorted(name for name in names if re.fullmatch(ID_PATTERN, name))


def _say_goodbye(bus: Bus, house: str, epoch: int, names: list[str], reason: str) -> None:
    entry = Entry(encode(Goodbye(reason=reason)), "goodbye", "moderator")
    goodbyes = [Commit(house, "", epoch, "", "", posts=[(streams.inbox(house, name), entry)]) for name in names]
    for name, error in zip(names, bus.commit(goodbyes), strict=True):
        if isinstance(error, Fenced):
            raise error
        if error is not None:
            logger.debug("%s cannot be told goodbye: %s", name, error, extra={"agent": name})
