"""What keeps a house small on its bus: mailboxes and out streams are cut behind what was dealt with, old news goes.

`Housekeeper` does it on a thread of its own, so that no game waits for it. A mailbox is looked at when its agent has
just said how far it is: only then does what is left in it tell anything.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, TypeAlias, TypeGuard

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusDown, BusError

logger = logging.getLogger(__name__)

LOBBY_AT_MOST: Final = 1000
"""Entries of the lobby that are kept: who knocked while no moderator was there is still heard."""

Chore: TypeAlias = tuple[str, Callable[[], object]]
"""A stream, and what is to be done about it."""


def trim_all(bus: Bus, ends: Iterable[tuple[str, str | None]]) -> None:
    """Cut streams when a house closes: nobody plays, and nothing will be read twice. What cannot be cut is only logged.

    Args:
        bus: where they are.
        ends: streams, each with the id up to which nobody will want it again, as far as somebody says so.
    """
    for stream, upto in ends:
        try:
            if _is_id(upto):
                bus.trim(stream, upto)
        except BusDown as error:
            logger.debug("what is left is not tidied: %s", error)
            return
        except BusError as error:
            logger.debug("%s is left as it is: %s", stream, error)


def _is_id(text: str | None) -> TypeGuard[str]:
    """Tell whether an agent's word for an id is one."""
    try:
        return text is not None and parse_id(text) is not None
    except BusError:
        return False


class Housekeeper:
    """Does chores when told to, in order.

    Args:
        bus: where the streams are.
        house: the house's name.
        report_unread: called from the housekeeper's thread with an agent and how many messages it has not dealt with.
    """

    def __init__(self, bus: Bus, house: str, report_unread: Callable[[str, int], None]) -> None:
        self._bus = bus
        self._house = house
        self._report_unread = report_unread
        self._seen: dict[str, str] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._executor = ThreadPoolExecutor(1, "housekeeping")

    def tidy_mailbox(self, agent: str, seen: str | None) -> None:
        """Cut a mailbox whose agent has dealt with all up to id `seen`, if it says so, and count what is left.

        Of an agent that says so faster than that is done its last word counts.
        """
        if _is_id(seen):
            stream = streams.inbox(self._house, agent)
            with self._lock:
                waiting = agent in self._seen
                self._seen[agent] = seen
            if not waiting:
                self._submit(
                    (stream, partial(self._cut_mailbox, stream, agent)), (stream, partial(self._count, stream, agent))
                )

    def tidy_house(self, agents: Collection[str], cursors: Mapping[str, str], news: int, mailbox: int) -> None:
        """Cut everything that is to be cut from time to time.

        Args:
            agents: all that have a mailbox.
            cursors: out stream to the id up to which nobody will want it again.
            news: entries of the games stream that must stay.
            mailbox: entries that a mailbox may hold at most, > 0.
        """
        boxes = [streams.inbox(self._house, agent) for agent in sorted(agents)]
        lobby, games = streams.lobby(self._house), streams.games(self._house)
        self._submit(
            *((box, partial(self._cap_mailbox, box, mailbox)) for box in boxes),
            *(self._trim(stream, upto) for stream, upto in sorted(cursors.items())),
            (lobby, partial(self._bus.cap, lobby, LOBBY_AT_MOST)),
            (games, partial(self._bus.cap, games, news)),
        )

    def cut_news(self, before: str) -> None:
        """Cut the games stream: what stands before this id is summed up."""
        self._submit(self._trim(streams.games(self._house), before))

    def close(self) -> None:
        """Leave what is not done yet."""
        self._closed.set()
        self._executor.shutdown(cancel_futures=True)

    def _submit(self, *chores: Chore) -> None:
        self._executor.submit(self._do, chores)

    def _do(self, chores: Sequence[Chore]) -> None:
        for stream, chore in chores:
            if self._closed.is_set():
                return
            try:
                chore()
            except BusDown as error:
                # what follows waits for the next time
                logger.debug("housekeeping waits for the bus: %s", error)
                return
            except BusError as error:
                logger.warning("housekeeping left %s as it is: %s", stream, error)
            except Exception:
                logger.exception("housekeeping left %s as it is", stream)

    def _trim(self, stream: str, before: str) -> Chore:
        return stream, partial(self._bus.trim, stream, before)

    def _cut_mailbox(self, stream: str, agent: str) -> None:
        with self._lock:
            seen = self._seen.pop(agent)
        self._bus.trim(stream, seen)

    def _count(self, stream: str, agent: str) -> None:
        # the entry that the agent's cursor stands on is still there
        self._report_unread(agent, max(self._bus.length(stream) - 1, 0))

    def _cap_mailbox(self, stream: str, keep: int) -> None:
        if dropped := self._bus.cap(stream, keep):
            logger.warning("%d unread messages were dropped from %s: it is not read", dropped, stream)
