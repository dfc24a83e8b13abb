"""What a moderator still does when it breaks down by an error of its own: it closes the house, and everybody leaves.

Otherwise agents and analytics would wait for a moderator that does not come.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable
from typing import Final

from moderator.house.archives import Archives
from moderator.house.departure import Departure
from moderator.house.games import ModeratorHouse
from moderator.house.lease import Claim
from moderator.house.scheduler import Programme
from moderator.house.session import Session
from wolfbus.bus.protocol import Bus
from wolfbus.errors import BusError, WolfError
from wolfbus.messages.house import Goodbye, HouseClosed

logger = logging.getLogger(__name__)

REASON: Final = "the moderator failed by an error of its own"
"""All that others are told; the error itself may say what they must not know, and stands in the log."""

_LOOK_S: Final = 0.02


def close_after_breakdown(
    bus: Bus,
    name: str,
    claim: Claim,
    house: ModeratorHouse,
    session: Session,
    archives: Archives,
    programme: Programme,
    everybody: Iterable[str],
    seconds: float,
) -> Departure | None:
    """Break off the games under way and close the house, if it is still ours.

    Args:
        bus: where it is.
        name: the house's.
        claim: by which it was ours.
        house: tells everybody.
        session: its news.
        archives: what analytics has on disk.
        programme: tells of games that cannot do so themselves.
        everybody: who has a mailbox.
        seconds: how long games may take to end, and then the news to land, > 0.

    Returns:
        How the term ended; None if the house is another's, was closed already, or cannot be closed.
    """
    try:
        owner = bus.owner(name)
        if (owner.holder, owner.epoch) != (claim.holder, claim.epoch):
            return None
        house.break_off(WolfError(REASON), seconds)
        session.catch_up(bus, name)
        if not session.running:
            return None
        for game, number in session.under_way.items():
            programme.fail(game, number, REASON)
        failed = session.failed + len(session.under_way) + archives.failed
        closed = HouseClosed(session=session.name, games=session.games, failed=failed, reason=REASON)
        house.announce(closed, [(agent, Goodbye(reason=REASON)) for agent in sorted(everybody)])
        if _landed(bus, name, house, session, seconds):
            return Departure("closed", REASON, failed=True)
    except BusError as error:
        logger.warning("the house could not be closed: %s", error)
    except Exception:
        logger.exception("the house could not be closed")
    return None


def _landed(bus: Bus, name: str, house: ModeratorHouse, session: Session, seconds: float) -> bool:
    until, tick = time.monotonic() + seconds, threading.Event()
    while time.monotonic() < until:
        session.catch_up(bus, name)
        if not session.running and house.has_said_all:
            return True
        tick.wait(_LOOK_S)
    return not session.running
