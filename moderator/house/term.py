"""`Term`: one term of office of a moderator, from the claim of a house until it is closed, handed over or lost.

Everything is decided in one loop on one thread; what the bus and the games have to say is put into its queue.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from moderator.engine.context import GameOver, HouseContext
from moderator.house.closing import BROKE_DOWN, END_S, Closing
from moderator.house.games import Games
from moderator.house.housekeeping import Housekeeper
from moderator.house.lease import Claim, Lease, TermEnd, TermOutcome, handed_over, has_news
from moderator.house.lobby import Lobby
from moderator.house.roster import AWAY_AFTER, Roster, Tickets
from moderator.house.scheduler import Scheduler
from moderator.house.session import NEWS_AT_LEAST, Archives, GameSummaries, HouseSession
from moderator.house.settings import GameReport, ModeratorSettings
from moderator.house.waiting import WaitingNotice, absent_line
from wolfbus.actors import ActorPool, Timers
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import BusDown, BusError, BusFull, Fenced, StreamLost, WolfError
from wolfbus.files.printable import printable
from wolfbus.service.lifecycle import Health, Stopping
from wolfbus.service.session import lost_data

logger = logging.getLogger(__name__)

StartLocal: TypeAlias = Callable[[HouseContext, contextlib.ExitStack], None]
"""Has agents and subscribers of the moderator's own process begin, by its reader, writer and pool; what ends them goes
on the stack."""

POLL_S: Final = 0.1
"""Longest time between two looks at what is due."""

QUEUED_AT_MOST: Final = 1000
"""What may wait for the loop before whoever brings more of it is held back a little."""


@dataclass(frozen=True, slots=True)
class ClaimedHouse:
    """A house that was claimed, and what its moderator has for it.

    Attributes:
        bus: where the house is.
        settings: what the service was told.
        claim: by which the house is ours.
        stopping: asked when this process should end.
        health: told how it goes.
        report: called with the result of every game.
        tickets: who holds one; None where anybody may come.
    """

    bus: Bus
    settings: ModeratorSettings
    claim: Claim
    stopping: Stopping
    health: Health
    report: Callable[[GameReport], None]
    tickets: Tickets | None = None


class Term:
    """Moderates a house that was claimed. Once made it has all its parts; `moderate` takes up and begins games.

    Args:
        house: the house.
        start_local: has those begin who play and watch in this very process; None for nobody.
        stack: takes what is to be closed once the term has ended.

    Attributes:
        end: how the term ended; None while it goes on.
    """

    def __init__(self, house: ClaimedHouse, start_local: StartLocal | None, stack: contextlib.ExitStack) -> None:
        bus, settings, claim = house.bus, house.settings, house.claim
        self._bus, self._settings, self._claim = bus, settings, claim
        self._name = settings.house
        self._stopping = house.stopping
        self._health = house.health
        self._tasks: queue.Queue[Callable[[], None]] = queue.Queue()
        self._bus_is_away = False
        self._warned_of_no_archive = False
        self._next_housekeeping = 0.0
        self._absence = WaitingNotice(None)
        # whoever plays is heard of until then
        self._absence_from = time.monotonic() + AWAY_AFTER * settings.heartbeat_s
        self._closing: Closing | None = None
        self.end: TermEnd | None = None
        if settings.lease_s:
            lease = Lease(bus, self._name, claim, settings.lease_s, self._queued(self._check_owner))
            stack.callback(lambda: lease.close(release=self._ends_in_order))
        pool = ActorPool(settings.threads)
        stack.callback(pool.close)
        timers = Timers()
        stack.callback(timers.close)
        writer = BusWriter(bus, on_error=self._bus_failed)
        stack.callback(lambda: writer.close(flush=self._ends_in_order))
        # nothing outlives a bus in memory, so what was read there need not stay
        self._reader = BusReader(bus, on_error=self._bus_failed, forget=bus.in_process)
        context = HouseContext(
            self._name,
            claim.epoch,
            bus,
            self._reader,
            writer,
            pool,
            timers,
            full_s=settings.full_s,
            landed=settings.landed,
            received=settings.received,
        )
        if start_local is not None:
            start_local(context, stack)
        stack.callback(self._reader.close)
        self._context = context
        self._games = Games(
            context, self._queued(self._receive), self._queued(self._send_failed), self._queued(self._gone_backwards)
        )
        stack.callback(self._games.stop)
        self._session = HouseSession(opens=settings.agenda.session if settings.agenda else None)
        archives = Archives(bus, self._name, self._session, settings.keep_s)
        self._roster = Roster(settings.config.seats, settings.heartbeat_s)
        self._housekeeper = Housekeeper(bus, self._name, self._queued(self._roster.count_unread))
        stack.callback(self._housekeeper.close)
        self._summaries = GameSummaries(self._session, self._games.announce, self._housekeeper.cut_news)
        self._lobby = Lobby(
            context,
            self._games,
            self._roster,
            archives.receive,
            self._housekeeper.tidy_mailbox,
            house.tickets,
            warns_of_seed=settings.has_short_seed,
        )
        self._scheduler = Scheduler(
            settings, context, self._games, archives, self._lobby, self._queued(self._finish_game), house.report
        )
        if settings.agenda is not None:
            settings.agenda.changed = self._queued(lambda: None)
        writer.start()
        self._reader.start()

    def moderate(self, playing: tuple[str, ...]) -> TermEnd:
        """Moderate until the term is over.

        Args:
            playing: games that this moderator had under way before the bus went backwards.

        Raises:
            BusError: the house cannot be moderated at all; one clear line.
        """
        self._scheduler.interrupted = playing
        try:
            self._retry(self._take_over)
            while self.end is None:
                self._do_queued()
                self._retry(self._do_due)
        except BusError as error:
            if not (isinstance(error, BusDown) and self._stopping.requested):
                raise
        except Exception as error:
            self.end = self._close_after_crash(error)
            if self.end is None:
                raise
        ended = self.end or handed_over(self._stopping)
        if ended.outcome == "handed over":
            self._games.hand_over()
        elif ended.outcome != "closed":
            self._games.break_off(Fenced(ended.reason))
        return ended

    def break_off(self, reason: WolfError, game: str | None, *, stays: bool = False) -> None:
        """Break off every game that was asked for, or one; see `Host.break_off`. Any thread may call it."""
        # at once: nothing that follows from the reason may be heard before it
        self._games.break_off(reason, game, stays=stays)
        self._queued(self._break_off)(reason, game, stays)

    def leave_games(self) -> None:
        """Have every game left where it stands, at once; see `Host.leave`. Any thread may call it."""
        self._games.hand_over(wait=False)

    def _break_off(self, reason: WolfError, game: str | None, stays: bool) -> None:
        # what was asked for before, and is not begun, gets a record too
        self._scheduler.open_games()
        self._games.break_off(reason, game, stays=stays)

    def _take_over(self) -> None:
        """Go on where the last moderator stopped, or open a new session; then ask who is here.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        self._scheduler.resume_session()
        last, cursors = self._lobby.find_candidates()
        # only once the games are there: what agents have sent meanwhile finds its game
        self._lobby.call_the_roll(self._scheduler.resume_games() | self._settings.local_agents, cursors)
        self._follow_lobby(last)

    def _follow_lobby(self, after: str) -> None:
        receive = self._queued(self._receive_lobby)
        self._reader.follow(streams.lobby(self._name), receive, after, lambda _: self._follow_lobby("0-0"))

    # -- the loop

    def _queued(self, work: Callable[..., None]) -> Callable[..., None]:
        """Return what has `work` done by the loop, and may be called from any thread."""
        return partial(self._enqueue, work)

    def _enqueue(self, work: Callable[..., None], *arguments: object) -> None:
        if self._tasks.qsize() > QUEUED_AT_MOST:
            time.sleep(0.001)
        self._tasks.put(partial(work, *arguments))

    def _do_queued(self) -> None:
        """Do what has come in, in order, for a moment at most; wait a moment if nothing has."""
        with contextlib.suppress(queue.Empty):
            self._retry(self._tasks.get(timeout=POLL_S))
            until = time.monotonic() + POLL_S
            while self.end is None and time.monotonic() < until:
                self._retry(self._tasks.get_nowait())

    def _retry(self, work: Callable[[], None]) -> None:
        """Do something that may need the bus; while that is away, again and again."""
        while self.end is None:
            try:
                work()
            except BusDown as error:
                if not self._bus_is_away:
                    logger.warning("%s; waiting for it", error)
                self._bus_is_away = True
                self._health.set("the bus is away", ok=False)
                if self._stopping.wait(POLL_S):
                    self.end = handed_over(self._stopping)
            except BusError as error:
                # this asks the bus in its turn
                work = partial(self._check_owner, error)
            else:
                self._bus_is_away = False
                return

    def _do_due(self) -> None:
        """Do what is due."""
        now = time.monotonic()
        if self._stopping.requested:
            self.end = handed_over(self._stopping)
            return
        if now >= self._next_housekeeping:
            self._housekeep()
            self._next_housekeeping = now + self._settings.heartbeat_s
        self._lobby.ask_progress(self._roster.lagging(now))
        self._scheduler.release_records()
        if self._closing is None:
            if not self._session.running:
                # while the bus was away from us another moderator ended the session: it is not ours to close
                self._check_owner(Fenced(f"session {self._session.name} was closed by another moderator"))
                return
            self._scheduler.open_games()
            if self._scheduler.all_begun and not self._scheduler.running:
                given_up = self._scheduler.given_up
                self._closing = self._closing_for(given_up or "all games are over", failed=given_up is not None)
        if self._closing is not None:
            self.end = self.end or self._closing.advance(now)
        self._report_health()

    def _report_health(self) -> None:
        running = len(self._scheduler.running)
        state = "closing" if self._closing is not None else "playing" if running else "waiting for agents"
        failed = self._session.failed + self._session.lost
        self._health.set(state, session=self._session.name, games=self._session.games, running=running, failed=failed)

    def _closing_for(self, reason: str, *, failed: bool) -> Closing:
        return Closing(reason, failed, self._settings, self._context, self._games, self._session, self._lobby)

    # -- what comes in

    def _receive(self, agent: str, entry: Entry) -> None:
        self._handle_message(agent, partial(self._lobby.receive, agent, entry))

    def _receive_lobby(self, _stream: str, entries: list[Entry]) -> None:
        for entry in entries:
            self._handle_message(printable(entry.sender, 80), partial(self._lobby.knock, entry))

    def _handle_message(self, agent: str, handle: Callable[[], None]) -> None:
        try:
            handle()
        except BusError:
            raise
        except Exception:
            # no agent's word may end a house
            logger.exception("a message of %s failed", agent, extra={"agent": agent})

    def _finish_game(self, over: GameOver) -> None:
        if over.game not in self._scheduler.running:
            return
        if isinstance(over.error, Fenced):
            self._check_owner(over.error)
        elif isinstance(over.error, BusDown | BusFull):
            self._lose_bus(over.error)
        else:
            self._scheduler.finish(over)
            if not self._warned_of_no_archive and not self._roster.present(time.monotonic(), "analytics"):
                self._warned_of_no_archive = True
                logger.info("no analytics service is here: records stay on the bus")

    def _check_owner(self, error: BusError) -> None:
        """Find out whose the house is, since the bus has refused something to us."""
        if not isinstance(error, Fenced):
            self._lose_bus(error)
            return
        owner = self._bus.owner(self._name)
        if owner.holder not in {"", self._claim.holder}:
            self._end_term("fenced", f"house {self._name} belongs to {owner.holder} now")
        elif owner.epoch == self._claim.epoch or has_news(self._bus, self._name):
            # nobody else writes here: what was refused does not go with what the bus has forgotten
            self._end_term("anew", f"the bus has gone backwards: {error}")
        else:
            self._end_term("lost", lost_data(self._name))

    def _send_failed(self, error: BusError, stream: str) -> None:
        """Deal with a message of the house that did not reach its stream."""
        box = streams.inbox(self._name, "")
        if isinstance(error, Fenced):
            self._check_owner(error)
        elif stream.startswith(box):
            # perhaps it was a welcome: who says join again gets another
            self._lobby.unreachable(stream.removeprefix(box), error)
        elif self._closing is not None:
            self._closing.send_failed(error)

    def _bus_failed(self, error: BusError) -> None:
        """Log what reader and writer say of the bus, from their threads."""
        if self.end is None and not self._stopping.requested:
            logger.warning("%s; waiting for it", error)

    def _gone_backwards(self, error: StreamLost) -> None:
        """End the term: an out stream ends before what was read of it."""
        self._check_owner(Fenced(str(error)))

    # -- order

    def _housekeep(self) -> None:
        self._lobby.admit_new_tickets()
        self._lobby.sum_up()
        self._warn_of_absence(time.monotonic())
        self._games.send_cursors()
        cursors = self._bus.cursors(self._name)
        self._session.catch_up(self._bus, self._name)
        self._summaries.update()
        news = max(self._session.news, NEWS_AT_LEAST)
        agents = set(self._lobby.names) - self._settings.local_agents
        self._housekeeper.tidy_house(agents, cursors, news, self._settings.mailbox)

    def _warn_of_absence(self, now: float) -> None:
        absent = self._roster.absent(now)
        for agent in self._settings.local_agents:
            absent.pop(agent, None)
        if not absent or now < self._absence_from:
            self._absence.end()
        elif self._absence.is_due(line := absent_line(absent), now):
            logger.warning("%s", line)

    # -- ending

    def _end_term(self, outcome: TermOutcome, reason: str, error: BusError | None = None) -> None:
        if self.end is None:
            playing = (*self._scheduler.interrupted, *self._scheduler.running) if outcome == "anew" else ()
            news_before = self._claim.news_before if outcome == "fenced" else None
            self.end = TermEnd(outcome, reason, outcome == "lost", playing, news_before, error)

    def _lose_bus(self, error: BusError) -> None:
        """End the term because the bus does not serve; after a request to stop that is a hand-over all the same."""
        if self._stopping.requested and isinstance(error, BusDown):
            self.end = self.end or handed_over(self._stopping)
        else:
            self._end_term("lost", str(error), error)

    @property
    def _ends_in_order(self) -> bool:
        return self.end is not None and self.end.outcome in {"closed", "handed over"}

    def _close_after_crash(self, error: Exception) -> TermEnd | None:
        """Close the house for an error of our own; None where that is not ours to do."""
        if self._stopping.requested:
            return None
        logger.error("the moderator breaks down, and closes the house if it can", exc_info=error)
        try:
            owner = self._bus.owner(self._name)
        except BusError as away:
            logger.warning("the house could not be closed: %s", away)
            return None
        if (owner.holder, owner.epoch) != (self._claim.holder, self._claim.epoch):
            return None
        closing = self._closing_for(BROKE_DOWN, failed=True)
        return closing.close_now(END_S, self._scheduler.fail)
