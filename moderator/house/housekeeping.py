"""What keeps a house small on its bus: mailboxes and out streams are cut behind what was dealt with, old news goes.

`tidy_mailbox` and `tidy_house` decide what to cut, without a bus; `Housekeeper` does it on a thread of its own, so that
no game waits for it. A mailbox is looked at when its agent has just said how far it is: only then does what is left in
it tell anything.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from moderator.house.session import HouseSession
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusDown, BusError
from wolfbus.messages.base import Part
from wolfbus.printable import counted

logger = logging.getLogger(__name__)

LOBBY_AT_MOST: Final = 1000
"""Entries of the lobby that are kept: who knocked while no moderator was there is still heard."""

NEWS_AT_LEAST: Final = 1000
"""Entries of the games stream that are kept, whichever session they belong to."""

NEWS_AT_MOST: Final = 20 * NEWS_AT_LEAST
"""Entries of a session that cannot be cut from which on that is worth a warning, and every time they have doubled."""


@dataclass(frozen=True, slots=True)
class Chores:
    """What a moderator knows that housekeeping goes by.

    Attributes:
        agents: all that have a mailbox.
        dealt: out stream to the id up to which nobody will want it again.
        news: entries of the games stream that belong to the running session.
    """

    agents: Collection[str]
    dealt: Mapping[str, str]
    news: int = 0


@dataclass(frozen=True, slots=True)
class Trim:
    """Drop what is older than an id."""

    stream: str
    before: str


@dataclass(frozen=True, slots=True)
class Cap:
    """Drop the oldest entries beyond a number, whoever has not read them."""

    stream: str
    keep: int


@dataclass(frozen=True, slots=True)
class Count:
    """Count what an agent has not dealt with; the mailbox was cut behind what it has."""

    stream: str
    agent: str


Chore: TypeAlias = Trim | Cap | Count


def tidy_mailbox(house: str, agent: str, seen: str | None) -> list[Chore]:
    """Return what to do about a mailbox whose agent has dealt with all up to id `seen`, if it says so."""
    stream = streams.inbox(house, agent)
    return [Trim(stream, seen), Count(stream, agent)] if seen is not None and _is_id(seen) else []


def tidy_house(house: str, chores: Chores, mailbox: int) -> list[Chore]:
    """Return what to do about everything from time to time.

    Args:
        house: the house's name.
        chores: what is known.
        mailbox: entries that a mailbox may hold at most, > 0.
    """
    found: list[Chore] = [Cap(streams.inbox(house, agent), mailbox) for agent in sorted(chores.agents)]
    found += (Trim(stream, upto) for stream, upto in sorted(chores.dealt.items()))
    found.append(Cap(streams.lobby(house), LOBBY_AT_MOST))
    found.append(Cap(streams.games(house), max(NEWS_AT_LEAST, chores.news)))
    return found


def last_tidy(house: str, dealt: Mapping[str, str], seen: Mapping[str, str | None]) -> list[Trim]:
    """Return what to cut when a house closes: nobody plays, and nothing will be read twice.

    Args:
        house: the house's name.
        dealt: out stream to the id up to which nobody will want it again.
        seen: agent to the id up to which it has dealt with its mailbox, if it says so.
    """
    found = [Trim(stream, upto) for stream, upto in sorted(dealt.items())]
    found += (Trim(streams.inbox(house, name), upto) for name, upto in sorted(seen.items()) if upto and _is_id(upto))
    return found


def carry_out(bus: Bus, trims: Iterable[Trim]) -> None:
    """Cut what can be cut, now; that something cannot be is only logged."""
    for trim in trims:
        try:
            bus.trim(trim.stream, trim.before)
        except BusDown as error:
            logger.debug("what is left is not tidied: %s", error)
            return
        except BusError as error:
            logger.debug("%s is left as it is: %s", trim.stream, error)


def _is_id(text: str) -> bool:
    """Tell whether an agent's word for an id is one."""
    try:
        parse_id(text)
    except BusError:
        return False
    return True


class Housekeeper:
    """Does chores when told to, in order.

    Args:
        bus: where the streams are.
        house: the house's name.
        counted: called from the housekeeper's thread with an agent and how many messages it has not dealt with.
    """

    def __init__(self, bus: Bus, house: str, counted: Callable[[str, int], None]) -> None:
        self._bus = bus
        self._house = house
        self._counted = counted
        self._rounds: queue.SimpleQueue[Sequence[Chore] | None] = queue.SimpleQueue()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
        self._thread.start()

    def do(self, chores: Sequence[Chore]) -> None:
        """Do these as soon as those before are done; what fails is logged, and what follows waits for the next time."""
        if chores:
            self._rounds.put(chores)

    def close(self) -> None:
        """Leave what is not done yet."""
        self._closed.set()
        self._rounds.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (chores := self._rounds.get()) is not None and not self._closed.is_set():
            for chore in chores:
                if self._closed.is_set():
                    return
                try:
                    self._do(chore)
                except BusDown as error:
                    logger.debug("housekeeping waits for the bus: %s", error)
                    break
                except BusError as error:
                    logger.warning("housekeeping left %s as it is: %s", chore.stream, error)

    def _do(self, chore: Chore) -> None:
        if isinstance(chore, Trim):
            self._bus.trim(chore.stream, chore.before)
        elif isinstance(chore, Count):
            # the entry that the agent's cursor stands on is still there
            self._counted(chore.agent, max(self._bus.length(chore.stream) - 1, 0))
        elif (gone := self._bus.cap(chore.stream, chore.keep)) and chore.stream.startswith(
            streams.inbox(self._house, "")
        ):
            logger.warning("%d unread messages were dropped from %s: it is not read", gone, chore.stream)


class GameSummaries:
    """Sums up what is over, and then has it cut away; the sums are on the stream before anything goes.

    Args:
        house: the house's name.
        session: its news.
        announce: puts news on the stream.
        do: has chores done.
        least: entries of the session that always stay.
    """

    def __init__(
        self,
        house: str,
        session: HouseSession,
        announce: Callable[[Part], None],
        do: Callable[[Sequence[Chore]], None],
        least: int = NEWS_AT_LEAST,
    ) -> None:
        self._stream = streams.games(house)
        self._session = session
        self._announce = announce
        self._do = do
        self._least = least
        self._asked = "0-0"
        self._cut = "0-0"
        self._warn_from = NEWS_AT_MOST

    def look(self) -> None:
        """Do what can be done now, by what was read of the stream."""
        session = self._session
        told = session.so_far
        if told is not None and parse_id(told.before) > parse_id(self._cut):
            self._cut = told.before
            session.cut_at(told.before)
            self._do([Trim(self._stream, told.before)])
        if not session.running or session.news <= self._least:
            return
        sums = session.sum_up(max(self._least // 4, 1))
        if sums is not None and parse_id(sums.before) > parse_id(self._asked):
            # said again at most once for every entry: what was lost on its way is not waited for
            self._asked = sums.before
            self._announce(sums)
        elif session.news > self._warn_from:
            self._warn_from = 2 * session.news
            waiting = counted(len(session.closed), "record")
            logger.warning("the games stream has grown to %d entries: %s not archived yet", session.news, waiting)
