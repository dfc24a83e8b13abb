"""A moderator's right to a house: standing by until it can be had, keeping it alive, and how its term ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from moderator.house.settings import ModeratorSettings
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus
from wolfbus.errors import BusDown, BusError, BusUnsaved, HouseHeld
from wolfbus.service.lifecycle import Health, Stopping
from wolfbus.service.session import lost_data

logger = logging.getLogger(__name__)

RENEWALS: Final = 3
"""How often a lease is renewed in the time it lasts."""

NOTHING: Final = "0-0"
"""Last id of a stream on which nothing ever was."""

_LOOK_AGAIN_S: Final = 1.0


TermOutcome: TypeAlias = Literal["closed", "handed over", "fenced", "lost", "anew"]
"""closed: the session is over · handed over: the service was stopped, and another may go on · fenced: another has the
house · lost: the bus lost its data, or was away for too long · anew: the bus has gone backwards, and this moderator
should claim the house again and go on from what is left."""


@dataclass(frozen=True, slots=True)
class TermEnd:
    """How a moderator's term ended.

    Attributes:
        outcome: in one word.
        reason: in one line.
        failed: whether a game of the session failed, or there were not enough agents for one.
        playing: games that were under way, where the bus may have forgotten that they ever began.
        news_before: `news_before` of its claim, where another has the house.
        error: what the bus refused, where that ended it; None where it did not.
    """

    outcome: TermOutcome
    reason: str
    failed: bool = False
    playing: tuple[str, ...] = ()
    news_before: str | None = None
    error: BusError | None = None


def handed_over(stopping: Stopping) -> TermEnd:
    """Return how a term ends whose service was stopped."""
    return TermEnd("handed over", stopping.why)


@dataclass(frozen=True, slots=True)
class Claim:
    """A house that was claimed.

    Attributes:
        holder: by whom.
        epoch: the owner epoch.
        stood_by: whether another had it when we came, or took it from us.
        news_before: id of the newest entry of its games stream when we first came.
        broken_off: whether whoever had it last never released it.
    """

    holder: str
    epoch: int
    stood_by: bool
    news_before: str
    broken_off: bool = False


class Lease:
    """Renews the lease of a house that was claimed.

    Args:
        bus: where the house is.
        house: its name.
        claim: by which it is ours.
        seconds: how long the lease lasts unless renewed, > 0.
        lost: called once, from the lease's thread, when somebody else owns the house or the bus has forgotten us.
    """

    def __init__(self, bus: Bus, house: str, claim: Claim, seconds: float, lost: Callable[[BusError], None]) -> None:
        self._bus = bus
        self._house = house
        self._holder = claim.holder
        self._epoch = claim.epoch
        self._seconds = seconds
        self._lost = lost
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease", daemon=True)
        self._thread.start()

    def close(self, *, release: bool) -> None:
        """Renew it no more.

        Args:
            release: whether to end it now, so that another moderator need not wait for it to run out.
        """
        self._ended.set()
        self._thread.join()
        if release:
            try:
                self._bus.release(self._house, self._holder, self._epoch)
            except BusError as error:
                logger.warning("the lease of house %s was not released, it runs out by itself: %s", self._house, error)

    def _run(self) -> None:
        away = False
        while not self._ended.wait(self._seconds / RENEWALS):
            try:
                self._bus.renew(self._house, self._holder, self._epoch, self._seconds)
            except BusDown as error:
                # whoever claims the house meanwhile fences us off; until then it is ours
                if not away and not self._ended.is_set():
                    logger.warning("the lease of house %s could not be renewed: %s", self._house, error)
                away = True
            except BusError as error:
                if not self._ended.is_set():
                    self._lost(error)
                return
            else:
                away = False


def has_news(bus: Bus, house: str) -> bool:
    """Return whether anything ever stood on a house's games stream, as far as the bus knows."""
    return bus.last_id(streams.games(house)) != NOTHING


def stand_by(
    bus: Bus,
    settings: ModeratorSettings,
    holder: str,
    stopping: Stopping,
    health: Health,
    before: TermEnd | None = None,
) -> Claim | TermEnd:
    """Claim a house as soon as nobody else holds it, however often the bus is away meanwhile.

    A house that was there before, and of which the bus knows nothing any more, is not claimed:
    its session is lost, and to open another in its stead is nobody's wish.

    Args:
        bus: where the house is.
        settings: its name, and how long the lease shall last.
        holder: who claims it; a name that no other process uses.
        stopping: ends the wait.
        health: told whether the bus is there.
        before: how our last term in this house ended, if we had one.

    Returns:
        The claim; or how we leave without one.

    Raises:
        BusUnsaved: the server of the bus takes no writes: it is there, so waiting for it would mend nothing.
    """
    house = settings.house
    waiting = away = False
    is_known = before is not None
    # where another moderator took the house from us, and went on with our session
    news = before.news_before if before is not None else None
    had_session = fenced = news is not None
    while not stopping.requested:
        if not away:
            health.set("standing by")
        try:
            last = bus.last_id(streams.games(house))
            news = last if news is None else news
            owner = bus.owner(house)
            if owner.epoch == 0 and last == NOTHING and is_known:
                return TermEnd("lost", lost_data(house), failed=True)
            is_known = is_known or owner.epoch != 0 or last != NOTHING
            had_session = had_session or last != NOTHING
            epoch = bus.claim(house, holder, settings.lease_s)
            if had_session and not has_news(bus, house):
                # it was lost since we looked, or another found that before us and has left its claim
                bus.release(house, holder, epoch)
                return TermEnd("lost", lost_data(house), failed=True)
            return Claim(holder, epoch, waiting or fenced, news, owner.unreleased)
        except HouseHeld as error:
            away, is_known = False, True
            if not waiting:
                logger.info("standing by: %s", error)
            waiting = True
            # it may be released before it runs out
            stopping.wait(min(max(error.left_s, 0.01), _LOOK_AGAIN_S))
        except BusUnsaved:
            raise
        except BusDown as error:
            if not away and not stopping.requested:
                logger.warning("%s; waiting for it", error)
            away = True
            health.set("the bus is away", ok=False)
            stopping.wait(_LOOK_AGAIN_S)
    return TermEnd("handed over", stopping.why)
