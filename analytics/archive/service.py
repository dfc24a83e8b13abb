"""The analytics service: keeps the records of a house's session on disk, measures them live, and reports at the end."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

from analytics.archive.archive import ArchiveView, SessionArchive
from analytics.archive.index import LIVE_KEPT
from analytics.archive.results import SessionResults, finished_session, write_results
from analytics.archive.session import past_sessions
from wolfbus import __version__
from wolfbus.actors import Timer
from wolfbus.agent.member import Member
from wolfbus.agent.membership import Membership, close_if_slow, introduce
from wolfbus.bus import streams
from wolfbus.bus.protocol import Entry, every_entry
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusError, NotAllowed, RecordError, StreamLost, WolfError
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.house import Archived
from wolfbus.service.lifecycle import Health, Stopping
from wolfbus.service.session import lost_data

logger = logging.getLogger(__name__)

CHECK_S: Final = 2.0
"""Seconds between two checks while nothing happens."""

_SOON_S: Final = 0.2
"""Games that end together are shown together."""


@dataclass(frozen=True, slots=True)
class AnalyticsSettings:
    """What the service is told.

    Attributes:
        url: the bus.
        house: the house's name.
        folder: where records, metrics and report go.
        name: the service's name in the house.
        check_s: seconds between two checks: live snapshots, and what is waited for.
    """

    url: str = field(repr=False)
    house: str
    folder: Path
    name: str = "analytics"
    check_s: float = CHECK_S


def serve(
    settings: AnalyticsSettings,
    stopping: Stopping,
    health: Health | None = None,
    tell: Callable[[SessionResults], None] = lambda _results: None,
) -> int:
    """Keep the records of one session until it closes, or until somebody asks to stop.

    Args:
        settings: see there.
        stopping: asked when this process should end; what is on disk by then can be gone on with.
        health: reports how it goes.
        tell: called with the results once they are written; with those so far after a request to stop.

    Returns:
        The exit code: 0 if the session has closed with at least one game, every game ended, and all is kept; else 1,
        and so where it was asked to stop before.

    Raises:
        ConfigError: the house does not take us, or another process has our name.
        WolfError: the bus cannot be reached.
    """
    introduction = introduce(
        settings.name, brain="analytics", version=f"wolfbus {__version__}", seats=0, in_house=True, service="analytics"
    )
    # the house may say goodbye before the last record is read
    membership = Membership(settings.url, settings.house, introduction, stays=True)
    services: list[ArchiveService] = []

    def settle(member: Member) -> ArchiveService:
        services.append(ArchiveService(settings, member, stopping))
        return services[0]

    failure: WolfError | None = None
    try:
        membership.run(settle, stopping, health)
    except WolfError as error:
        if not services:
            raise
        failure = error
    if not services:
        return 1
    (service,) = services
    if service.failure is not None and not service.done:
        raise service.failure
    results = service.results
    code = 0 if results.closed and results.fine else 1
    if results.count:
        try:
            write_results(results)
        except RecordError as error:
            logger.error("%s", error)  # noqa: TRY400 - the line says it all
            code = 1
    if failure is not None and not service.done:
        raise failure
    tell(results)
    return code


class ArchiveService:
    """Feeds an archive from the bus, one entry at a time, checks what it waits for, and shows how games stand.

    Args:
        settings: see there.
        member: the service's place in the house.
        stopping: asked to stop once all is done.

    Attributes:
        done: whether all is done that can be.
        failure: why it cannot go on, if it cannot.
        results: what came of it; there once it was closed.

    Raises:
        BusError: the ``games`` stream cannot be read.
    """

    # no game is waited for when somebody asks to stop: what is on disk can be gone on with
    playing = played = 0
    results: SessionResults

    def __init__(self, settings: AnalyticsSettings, member: Member, stopping: Stopping) -> None:
        self.done = False
        self.failure: WolfError | None = None
        self._house, self._check_s = settings.house, settings.check_s
        self._member = member
        self._stopping = stopping
        self._snapshots = 0
        self._may_show = True
        self._view = ArchiveView()
        self._archive_lock = threading.Lock()
        self._check_lock = threading.Lock()
        self._timer_lock = threading.Lock()
        self._next: Timer | None = None
        self._due = 0.0
        self._closed = False
        folder = settings.folder
        past = past_sessions(every_entry(member.bus, streams.games(settings.house)), folder, finished_session(folder))
        self._archive = SessionArchive(settings.house, folder, past, self)
        logger.info("%s keeps the records of house %s in %s", settings.name, settings.house, folder)
        self.follow_news()
        self.check_soon()

    # -- for the member

    def deliver(self, entries: object) -> None:
        """Take deliveries, which nobody sends to a service without seats."""

    def welcome(self) -> None:
        """Tell a moderator that is new what is archived: it may not have read that far."""
        self._call(self._archive.acknowledge_all)

    def rejoined(self) -> None:
        """Do nothing yet: the welcome that follows sends everything again."""

    def report(self) -> tuple[str, dict[str, int]]:
        """Return whether records are being archived, and how many."""
        view = self._view
        state = "archiving" if view.running else "waiting"
        return state, {"games": view.running, "archived": view.archived, "failed": view.failed}

    def close(self) -> None:
        """Stop reading, write all to the disk, and show the end."""
        # what is being handed over is still taken in
        self._member.reader.close()
        try:
            with self._archive_lock:
                self.results = self._archive.results()
            with close_if_slow(self._member.bus), self._check_lock:
                self._closed = True
                self._post(self._refresh_view())
        except BusError as error:
            logger.debug("the end was not shown: %s", error)

    # -- for the archive

    def follow(self, game: str, after: str) -> None:
        """Subscribe to a game's record."""
        receive = partial(self._receive, partial(self._archive.receive_record, game))
        self._member.reader.follow(streams.record(self._house, game), receive, after, partial(self._reread, game))

    def unfollow(self, game: str) -> None:
        """Unsubscribe from it."""
        self._member.reader.unfollow(streams.record(self._house, game))

    def follow_news(self) -> None:
        """Subscribe to the ``games`` stream, from its beginning."""
        receive = partial(self._receive, self._archive.receive_news)
        self._member.reader.follow(streams.games(self._house), receive, "0-0", partial(self._reread, ""))

    def tell(self, message: Archived) -> None:
        """Send a message to the moderator."""
        self._member.outbox.send("", encode(message), "archived")

    def check_soon(self) -> None:
        """Check soon what is waited for, and show how games stand."""
        self._check_within(_SOON_S)

    def finish(self) -> None:
        """End the service: all is done that can be."""
        self.done = True
        self._stopping.ask("the house has closed")

    # -- from threads of the bus: each waits until the archive has taken it in, so nothing piles up here

    def _receive(self, receive: Callable[[list[Entry]], None], _stream: str, entries: list[Entry]) -> None:
        self._call(receive, entries)

    def _reread(self, game: str, error: StreamLost) -> None:
        self._call(self._archive.reread, game, str(error))

    def _call(self, act: Callable[..., None], *args: object) -> None:
        try:
            with self._archive_lock:
                act(*args)
        except Exception as error:
            logger.exception("a record or the news could not be taken in")
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self.failure = WolfError(f"analytics failed: {error!r}")
        self._stopping.ask(str(self.failure))

    # -- from the timers' thread: the only one that waits for the bus

    def _check_within(self, seconds: float) -> None:
        """Check after so many seconds at the latest."""
        with self._timer_lock, contextlib.suppress(RuntimeError):
            due = time.monotonic() + seconds
            if self._next is None or not self._next.pending or due < self._due:
                if self._next is not None:
                    self._next.cancel()
                # the timers may be closed by now
                self._next, self._due = self._member.timers.after(seconds, self._check), due

    def _check(self) -> None:
        with self._check_lock:
            if self._closed:
                return
            try:
                view = self._refresh_view()
                for game, (lines, due) in view.waited_for.items():
                    self._check_stream(game, lines, due)
                self._post(view)
            except BusError as error:
                # its reader and writer report that the bus is away
                logger.debug("the check failed: %s", error)
            except Exception as error:
                logger.exception("the check failed")
                self._fail(error)
                return
        self._check_within(self._check_s)

    def _refresh_view(self) -> ArchiveView:
        with self._archive_lock:
            self._view = self._archive.view()
        return self._view

    def _post(self, view: ArchiveView) -> None:
        """Post a snapshot to the house's live stream; a ticket that does not allow it is no reason to keep records any
        less.
        """
        if view.live is None or not self._may_show:
            return
        self._snapshots += 1
        bus, stream = self._member.bus, streams.live(self._house)
        try:
            bus.post(stream, Entry(pack(view.live), "live", self._member.name, "", self._snapshots))
            bus.cap(stream, LIVE_KEPT)
        except NotAllowed as error:
            self._may_show = False
            logger.info("nothing is shown live: %s", error)

    def _check_stream(self, game: str, lines: int, due: int | None) -> None:
        """Check whether what is waited for is still on the bus, and declare it missing if it is not."""
        bus, house = self._member.bus, self._house
        if not game:
            if not bus.entries(streams.games(house), limit=1):
                self._call(self._archive.declare_missing, "", lost_data(house))
            return
        record = streams.record(house, game)
        first = bus.entries(record, limit=1)
        last = parse_id(bus.last_id(record))[0]
        if not first:
            reason = "the record is gone from the bus"
        elif first[0].id != "1-0":
            reason = f"the record on the bus begins with line {first[0].number}"
        elif due is None and last <= lines:
            reason = "the house closed before this game did"
        elif due is not None and last < due:
            reason = f"the record on the bus has {last} of {due} lines"
        else:
            return
        self._call(self._archive.declare_missing, game, reason)
