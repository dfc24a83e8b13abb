"""The analytics service: keeps the records of a house's session on disk, measures them live, and reports at the end."""

from __future__ import annotations

import contextlib
import logging
import resource
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pykka import ActorDeadError

from analytics.archivist import Archivist
from analytics.desk import Acknowledge, ArchiveNews, ArchiveView, Finish, Gone, Lines, LookAround, Lost
from analytics.live import LivePost
from analytics.results import Results, finished_session, write_results
from analytics.session import SessionNews, past_sessions
from wolfbus import __version__
from wolfbus.actors import ActorPool, Timers
from wolfbus.agent.introduction import Introduction
from wolfbus.agent.member import AGAIN_S, Member, MembershipEnd
from wolfbus.agent.membership import Membership
from wolfbus.bus import streams
from wolfbus.bus.ids import parse_id
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import BusDown, BusError, RecordError, StreamLost, WolfError
from wolfbus.messages.codec import encode
from wolfbus.messages.house import Archived
from wolfbus.service.health import Health
from wolfbus.service.opening import open_when_there
from wolfbus.service.stop import Stopping

if TYPE_CHECKING:
    from pykka import ActorRef

logger = logging.getLogger(__name__)

LOOK_S: Final = 2.0
"""Seconds between two looks around while nothing happens."""

FILES_AT_MOST: Final = 65_536
"""Files that this process asks to be allowed to have open."""

_BREATH_S: Final = 0.2
_LAST_WORDS_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class AnalyticsSettings:
    """What the service is told.

    Attributes:
        url: the bus.
        house: the house's name.
        folder: where records, metrics and report go.
        name: the service's name in the house.
        again_s: seconds between two `join` until the moderator says how often.
        look_s: seconds between two looks around: live pictures, health, what is waited for.
    """

    url: str = field(repr=False)
    house: str
    folder: Path
    name: str = "analytics"
    again_s: float = AGAIN_S
    look_s: float = LOOK_S


def serve(
    settings: AnalyticsSettings,
    stopping: Stopping,
    health: Health | None = None,
    tell: Callable[[Results], None] = lambda _results: None,
) -> int:
    """Keep the records of one session until it closes, or until somebody asks to stop.

    Args:
        settings: see there.
        stopping: asked when this process should end; what is on disk by then can be gone on with.
        health: told how it goes.
        tell: called with the results once they are written; with those so far after a request to stop.

    Returns:
        The exit code: 0 if the session has closed with at least one game, every game ended, and all is kept; else 1,
        and so where it was asked to stop before.

    Raises:
        ConfigError: the house does not take us, or another process has our name.
        WolfError: the bus cannot be reached.
    """
    _allow_many_files()
    with contextlib.ExitStack() as ending:
        bus = open_when_there(settings.url, stopping, health)
        if bus is None:
            return 1
        ending.callback(bus.close)
        service = _Service(settings, bus, stopping, health or Health(None), ending)
        ending.callback(service.stop)
        service.start()
        stopping.wait()
        results = service.finish()
    if service.parting is not None and service.parting.error is not None and not service.done:
        raise service.parting.error
    code = 0 if results.closed and results.fine else 1
    if results.known:
        try:
            write_results(results)
        except RecordError as error:
            logger.error("%s", error)  # noqa: TRY400 - the line says it all
            code = 1
    tell(results)
    return code


class _Service:
    """The threads of the service, and the `Desk` of its archivist."""

    def __init__(
        self, settings: AnalyticsSettings, bus: Bus, stopping: Stopping, health: Health, ending: contextlib.ExitStack
    ) -> None:
        self._settings = settings
        self._bus = bus
        self._stopping = stopping
        self._health = health
        self.parting: MembershipEnd | None = None
        self.done = False
        folder, house = settings.folder, settings.house
        news = SessionNews(past_sessions(every_entry(bus, streams.games(house)), folder, finished_session(folder)))
        pool = ActorPool(1)
        ending.callback(pool.close)
        timers = Timers("analytics-timers")
        ending.callback(timers.close)
        self._writer = BusWriter(bus, on_error=self._bus_failed)
        self._reader = BusReader(bus, on_error=self._bus_failed)
        introduction = Introduction(
            settings.name, "analytics", f"wolfbus {__version__}", seats=0, in_house=True, service="analytics"
        )
        membership = Membership(settings.url, house, introduction, again_s=settings.again_s)
        self._member = Member(membership, bus, self._reader, self._writer, timers, over=self._part)
        self._live = LivePost(bus, house, settings.name)
        self._ended = threading.Event()
        self._soon = threading.Event()
        self._looker = threading.Thread(target=self._look_around, name="analytics-look")
        self._archivist: ActorRef[Archivist] = Archivist.start_in(pool, house, folder, news, self)
        ending.callback(self._archivist.stop)

    def start(self) -> None:
        """Come into the house and begin to read."""
        settings = self._settings
        logger.info("%s keeps the records of house %s in %s", settings.name, settings.house, settings.folder)
        self._writer.start()
        self._reader.start()
        self._looker.start()
        self._member.start(self)
        self.follow_news()

    def finish(self) -> Results:
        """Stop reading, bring all to the disk, and say what came of it."""
        # what is being handed over is still taken in
        self._reader.close()
        results: Results = self._archivist.ask(Finish(), block=True)
        self._member.leave(self._stopping.why or "the house has closed")
        self.stop()
        return results

    def stop(self) -> None:
        """End every thread; stopping again does nothing."""
        self._ended.set()
        self._soon.set()
        self._reader.close()
        # what waits to be sent is sent, but a bus that is away is not waited for
        impatience = threading.Timer(_LAST_WORDS_S, self._bus.close)
        impatience.daemon = True
        impatience.start()
        self._writer.close()
        if self._looker.ident is not None:
            self._looker.join()
        impatience.cancel()

    # -- for the archivist

    def follow(self, game: str, after: str) -> None:
        """Have a game's record brought."""
        stream = streams.record(self._settings.house, game)
        self._reader.follow(stream, partial(self._bring_lines, game), after, partial(self._lose, game))

    def unfollow(self, game: str) -> None:
        """Have no more of it brought."""
        self._reader.unfollow(streams.record(self._settings.house, game))

    def follow_news(self) -> None:
        """Have the ``games`` stream brought from its beginning."""
        self._reader.follow(streams.games(self._settings.house), self._bring_news, "0-0", partial(self._lose, ""))

    def tell(self, message: Archived) -> None:
        """Send a message to the moderator."""
        try:
            self._member.outbox.send("", encode(message), "archived")
        except BusError as error:
            logger.debug("the moderator was not told: %s", error, extra={"game": message.game})

    def look(self) -> None:
        """Look around soon."""
        self._soon.set()

    def over(self) -> None:
        """End the service: all is done that can be."""
        self.done = True
        self._stopping.ask("the house has closed")

    # -- for the member

    def deliver(self, entries: object) -> None:
        """Take deliveries, which nobody sends to a service without seats."""

    def welcome(self) -> None:
        """Tell a moderator that is new what is archived: it may not have read that far."""
        self._tell_archivist(Acknowledge())

    def again(self) -> None:
        """Do nothing yet: the welcome that follows has all told anew."""

    def _part(self, parting: MembershipEnd) -> None:
        self.parting = parting
        if parting.error is not None:
            self._stopping.ask(parting.reason)

    def _crash(self, error: Exception) -> None:
        reason = f"analytics failed: {error!r}"
        self._part(MembershipEnd(reason, WolfError(reason)))

    def _bus_failed(self, error: BusError) -> None:
        self._member.bus_failed(error)

    # -- from the reader's thread: each waits until the archivist has taken it in, so nothing piles up here

    def _bring_lines(self, game: str, _stream: str, entries: list[Entry]) -> None:
        self._tell_archivist(Lines(game, entries))

    def _bring_news(self, _stream: str, entries: list[Entry]) -> None:
        self._tell_archivist(ArchiveNews(entries))

    def _lose(self, game: str, error: StreamLost) -> None:
        self._tell_archivist(Lost(game, str(error)))

    def _tell_archivist(self, message: object) -> None:
        try:
            self._archivist.ask(message)
        except ActorDeadError:
            logger.debug("%s came after the end", type(message).__name__)
        except Exception as error:
            logger.exception("the archivist failed")
            self._crash(error)

    # -- the looker's thread: the only one that waits for the bus

    def _look_around(self) -> None:
        last = False
        while not last:
            # what was shown last shows the end
            last = self._ended.is_set()
            try:
                self._look(last=last)
            except ActorDeadError:
                return
            except BusDown:
                # the bus's readers and writers have told it already
                self._health.set("the bus is away", ok=False)
            except BusError as error:
                logger.debug("looking around failed: %s", error)
            except Exception as error:
                logger.exception("looking around failed")
                self._crash(error)
                return
            if not last:
                # games that end together are shown together
                self._ended.wait(_BREATH_S)
                self._soon.wait(max(self._settings.look_s - _BREATH_S, 0.0))
                self._soon.clear()

    def _look(self, *, last: bool) -> None:
        view: ArchiveView = self._archivist.ask(LookAround(), block=True)
        if view.changed:
            self._live.post(view.live)
        if last:
            return
        state = "archiving" if view.running else "waiting"
        self._health.set(state, games=view.running, archived=view.archived, failed=view.failed)
        for game, (here, due) in view.waited_for.items():
            self._look_for(game, here, due)

    def _look_for(self, game: str, here: int, due: int | None) -> None:
        """See whether what is waited for is still on the bus, and say so if it is not."""
        house = self._settings.house
        if not game:
            if not self._bus.entries(streams.games(house), limit=1):
                reason = f"the bus lost its data: house {house} has no games there any more"
                self._tell_archivist(Gone("", reason))
            return
        record = streams.record(house, game)
        first = self._bus.entries(record, limit=1)
        last = parse_id(self._bus.last_id(record))[0]
        if not first:
            reason = "the record is gone from the bus"
        elif first[0].id != "1-0":
            reason = f"the record on the bus begins with line {first[0].number}"
        elif due is None and last <= here:
            reason = "the house closed before this game did"
        elif due is not None and last < due:
            reason = f"the record on the bus has {last} of {due} lines"
        else:
            return
        self._tell_archivist(Gone(game, reason))


def _allow_many_files() -> None:
    """Let this process have as many files open as it may: there is one for every game under way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES_AT_MOST if hard == resource.RLIM_INFINITY else min(hard, FILES_AT_MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
