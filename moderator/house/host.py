"""`Host`: one term of office of a moderator, from the claim of a house until it is closed, handed over or lost.

Everything is decided in one loop on one thread; what the bus and the games have to say is put into its queue.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import time
from collections.abc import Callable
from functools import partial
from typing import Final, TypeAlias

from moderator.engine.context import GameOver, HouseContext, outbox_cursors
from moderator.house.closing import BROKE_DOWN, LAST_S, CloseWatchdog, Closing
from moderator.house.games import Games
from moderator.house.housekeeping import Housekeeper
from moderator.house.lease import Claim, How, Lease, TermEnd, forgotten, has_news
from moderator.house.lobby import Lobby
from moderator.house.roster import Roster, Tickets
from moderator.house.scheduler import Scheduler
from moderator.house.session import NEWS_AT_LEAST, Archives, GameSummaries, HouseSession
from moderator.house.settings import GameReport, ModeratorSettings
from wolfbus.actors import ActorPool, Timers
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import BusDown, BusError, BusFull, Fenced, StreamLost, WolfError
from wolfbus.printable import printable
from wolfbus.service.lifecycle import Health, Stopping

logger = logging.getLogger(__name__)

Company: TypeAlias = Callable[[HouseContext, contextlib.ExitStack], None]
"""Has agents and subscribers of the moderator's own process begin, by its reader, writer and pool; what ends them goes
on the stack."""

GLANCE_S: Final = 0.1
"""Longest time between two looks at what is due."""

WAITING_AT_MOST: Final = 1000
"""What may wait for the loop before whoever brings more of it is held back a little."""


class Host:
    """Moderates a house that was claimed.

    Args:
        bus: where it is; closed before its time if it does not let go.
        settings: what the service was told.
        claim: by which it is ours.
        stopping: asked when this process should end.
        health: told how it goes.
        told: called with the result of every game.
        tickets: who holds one; None where anybody may come.
    """

    def __init__(
        self,
        bus: Bus,
        settings: ModeratorSettings,
        claim: Claim,
        stopping: Stopping,
        health: Health,
        told: Callable[[GameReport], None],
        tickets: Tickets | None = None,
    ) -> None:
        self._bus = bus
        self._set = settings
        self._name = settings.house
        self._claim = claim
        self._stopping = stopping
        self._health = health
        self._told = told
        self._tickets = tickets
        self._forgotten: tuple[str, ...] = ()
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._exit: TermEnd | None = None
        self._ended = False
        self._away = False
        self._unkept = False
        self._next_round = 0.0
        self._begun = False
        self._closing: Closing | None = None

    def run(self, playing: tuple[str, ...] = (), company: Company | None = None) -> TermEnd:
        """Moderate until the term is over.

        Args:
            playing: games that this moderator had under way before the bus went backwards.
            company: has those begin who play and watch in this very process; None for nobody.

        Raises:
            BusError: the house cannot be moderated at all; one clear line.
        """
        self._forgotten = playing
        watchdog = CloseWatchdog(self._bus, lambda: self._stopping.asked or self._exit is not None)
        try:
            with contextlib.ExitStack() as ending:
                try:
                    self._begin(ending, company)
                    while self._exit is None:
                        self._do_next()
                        self._try(self._look_around)
                except BusDown:
                    if not self._stopping.asked:
                        raise
                except BusError:
                    raise
                except Exception as error:
                    self._exit = self._break_down(error)
                    if self._exit is None:
                        raise
                ended = self._exit or TermEnd("handed over", self._stopping.why)
                if ended.how == "handed over" and self._begun:
                    self._games.hand_over()
                elif ended.how != "closed" and self._begun:
                    self._games.break_off(Fenced(ended.reason))
        finally:
            self._ended = True
            watchdog.close()
        return ended

    def break_off(self, reason: WolfError, game: str | None = None) -> None:
        """Break off every game that was asked for, or one; each record says why. Any thread may call it.

        Args:
            reason: why; it stands in the news too, which spectators read.
            game: which one; None for all.
        """
        if self._begun:
            # at once: nothing that follows from the reason may be heard before it
            self._games.break_off(reason, game)
        self._later(self._break_off)(reason, game)

    def _break_off(self, reason: WolfError, game: str | None) -> None:
        # what was asked for before, and is not begun, gets a record too
        self._scheduler.open_games()
        self._games.break_off(reason, game)

    # -- beginning

    def _begin(self, ending: contextlib.ExitStack, company: Company | None) -> None:
        claim, settings = self._claim, self._set
        if settings.lease_s:
            refused = self._later(self._refused)
            lease = Lease(self._bus, self._name, claim, settings.lease_s, refused)
            ending.callback(self._end_lease, lease)
        pool = ActorPool(settings.threads)
        ending.callback(pool.close)
        timers = Timers()
        ending.callback(timers.close)
        writer = BusWriter(self._bus, on_error=self._bus_failed)
        ending.callback(self._end_writer, writer)
        # nothing outlives a bus in memory, so what was read there need not stay
        in_memory = self._bus.url.startswith("memory:")
        self._reader = BusReader(self._bus, on_error=self._bus_failed, forget=in_memory)
        self._context = HouseContext(
            self._name,
            claim.epoch,
            self._bus,
            self._reader,
            writer,
            pool,
            timers,
            full_s=settings.full_s,
            landed=settings.landed,
        )
        if company is not None:
            company(self._context, ending)
        ending.callback(self._reader.close)
        hear, unsaid = self._later(self._heard), self._later(self._unsaid)
        self._games = Games(self._context, hear, unsaid, self._later(self._gone_backwards))
        ending.callback(self._games.stop)
        self._session = HouseSession(opens=settings.agenda.session if settings.agenda else None)
        self._archives = Archives(self._bus, self._name, self._session, settings.keep_s)
        self._roster = Roster(settings.config.seats, settings.heartbeat_s)
        count_unread = self._later(self._roster.count_unread)
        self._housekeeper = Housekeeper(self._bus, self._name, count_unread)
        ending.callback(self._housekeeper.close)
        self._summaries = GameSummaries(self._session, self._games.announce, self._housekeeper.cut_news)
        self._lobby = Lobby(
            self._context,
            self._games,
            self._roster,
            self._archives.take,
            self._housekeeper.tidy_mailbox,
            self._tickets,
            warns_of_seed=settings.has_short_seed,
        )
        over = self._later(self._over)
        self._scheduler = Scheduler(settings, self._context, self._games, self._archives, self._lobby, over, self._told)
        self._scheduler.forgotten = self._forgotten
        if settings.agenda is not None:
            settings.agenda.changed = self._later(lambda: None)
        writer.start()
        self._reader.start()
        self._begun = True
        self._try(self._take_over)

    def _take_over(self) -> None:
        """Go on where the last moderator stopped, or open a new session; then ask who is here.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        self._scheduler.take_up_session()
        knocked, cursors = self._lobby.look_back()
        # only once the games are there: what agents have sent meanwhile finds its game
        here = self._set.agenda.agents if self._set.agenda is not None else frozenset()
        self._lobby.call_the_roll(self._scheduler.take_up_games() | here, cursors)
        self._follow_lobby(knocked)

    def _follow_lobby(self, after: str) -> None:
        knocked = self._later(self._knocked)
        self._reader.follow(streams.lobby(self._name), knocked, after, lambda _: self._follow_lobby("0-0"))

    # -- the loop

    def _later(self, work: Callable[..., None]) -> Callable[..., None]:
        """Return what has `work` done by the loop, and may be called from any thread."""
        return partial(self._ask, work)

    def _ask(self, work: Callable[..., None], *words: object) -> None:
        if self._work.qsize() > WAITING_AT_MOST:
            time.sleep(0.001)
        self._work.put(partial(work, *words))

    def _do_next(self) -> None:
        """Do what has come in, in order, for a moment at most; wait a moment if nothing has."""
        with contextlib.suppress(queue.Empty):
            self._try(self._work.get(timeout=GLANCE_S))
            until = time.monotonic() + GLANCE_S
            while self._exit is None and time.monotonic() < until:
                self._try(self._work.get_nowait())

    def _try(self, work: Callable[[], None]) -> None:
        """Do something that may need the bus; while that is away, again and again."""
        while self._exit is None:
            try:
                work()
            except BusDown as error:
                if not self._away:
                    logger.warning("%s; waiting for it", error)
                self._away = True
                self._health.set("the bus is away", ok=False)
                if self._stopping.wait(GLANCE_S):
                    self._leave("handed over", self._stopping.why)
            except BusError as error:
                # this asks the bus in its turn
                work = partial(self._refused, error)
            else:
                self._away = False
                return

    def _look_around(self) -> None:
        """Do what is due."""
        now = time.monotonic()
        if self._stopping.asked:
            self._leave("handed over", self._stopping.why)
            return
        if now >= self._next_round:
            self._keep_house()
            self._next_round = now + self._set.heartbeat_s
        self._lobby.urge(self._roster.lagging(now))
        self._scheduler.let_go()
        if self._closing is None:
            self._scheduler.open_games()
            if self._scheduler.all_begun and not self._scheduler.running:
                given_up = self._scheduler.given_up
                self._closing = self._closing_for(given_up or "all games are over", failed=given_up is not None)
        if self._closing is not None:
            self._exit = self._exit or self._closing.go_on(now)
        self._tell_health()

    def _tell_health(self) -> None:
        running = len(self._scheduler.running)
        state = "closing" if self._closing is not None else "playing" if running else "waiting for agents"
        failed = self._session.failed + self._session.lost
        self._health.set(state, session=self._session.name, games=self._session.games, running=running, failed=failed)

    def _closing_for(self, reason: str, *, failed: bool) -> Closing:
        return Closing(reason, failed, self._set, self._context, self._games, self._session, self._lobby)

    # -- what comes in

    def _heard(self, agent: str, entry: Entry) -> None:
        self._hear_out(agent, partial(self._lobby.hear, agent, entry))

    def _knocked(self, _stream: str, entries: list[Entry]) -> None:
        for entry in entries:
            self._hear_out(printable(entry.sender, 80), partial(self._lobby.knock, entry))

    def _hear_out(self, agent: str, hear: Callable[[], None]) -> None:
        try:
            hear()
        except BusError:
            raise
        except Exception:
            # no agent's word may end a house
            logger.exception("a message of %s failed", agent, extra={"agent": agent})

    def _over(self, over: GameOver) -> None:
        if over.game not in self._scheduler.running:
            return
        if isinstance(over.error, Fenced):
            self._refused(over.error)
        elif isinstance(over.error, BusDown | BusFull):
            self._lose(over.error)
        else:
            self._scheduler.finish(over)
            if not self._unkept and not self._roster.present(time.monotonic(), "analytics"):
                self._unkept = True
                logger.info("no analytics service is here: records stay on the bus")

    def _refused(self, error: BusError) -> None:
        """See whose the house is, since the bus has refused something to us."""
        if not isinstance(error, Fenced):
            self._lose(error)
            return
        owner = self._bus.owner(self._name)
        if owner.holder not in {"", self._claim.holder}:
            self._leave("fenced", f"house {self._name} belongs to {owner.holder} now")
        elif owner.epoch == self._claim.epoch or has_news(self._bus, self._name):
            # nobody else writes here: what was refused does not go with what the bus has forgotten
            self._leave("anew", f"the bus has gone backwards: {error}")
        else:
            self._leave("lost", forgotten(self._name))

    def _unsaid(self, error: BusError, stream: str) -> None:
        """Take note that a word of the house did not reach a stream of the bus."""
        box = streams.inbox(self._name, "")
        if isinstance(error, Fenced):
            self._refused(error)
        elif stream.startswith(box):
            # perhaps it was a welcome: who says join again gets another
            self._lobby.unreachable(stream.removeprefix(box), error)
        elif self._closing is not None:
            self._closing.unsaid(error)

    def _bus_failed(self, error: BusError) -> None:
        """Hear what reader and writer say of the bus, from their threads."""
        if not self._ended and not self._stopping.asked:
            logger.warning("%s; waiting for it", error)

    def _gone_backwards(self, error: StreamLost) -> None:
        """End the term: an out stream ends before what was read of it."""
        self._refused(Fenced(str(error)))

    # -- order

    def _keep_house(self) -> None:
        self._lobby.admit_new_tickets()
        self._lobby.sum_up()
        self._games.settle()
        dealt = outbox_cursors(self._bus, self._name)
        self._session.catch_up(self._bus, self._name)
        self._summaries.look()
        here = self._set.agenda.agents if self._set.agenda is not None else frozenset()
        news = max(self._session.news, NEWS_AT_LEAST)
        self._housekeeper.tidy_house(set(self._lobby.names) - here, dealt, news, self._set.mailbox)

    # -- ending

    def _leave(self, how: How, reason: str) -> None:
        if self._exit is None:
            playing = (*self._scheduler.forgotten, *self._scheduler.running) if how == "anew" else ()
            begun = self._claim.news_before if how == "fenced" else None
            self._exit = TermEnd(how, reason, how == "lost", playing, begun)

    def _lose(self, error: BusError) -> None:
        """End the term because the bus does not serve; after a request to stop that is a hand-over all the same."""
        if self._stopping.asked and isinstance(error, BusDown):
            self._leave("handed over", self._stopping.why)
        else:
            self._leave("lost", str(error))

    def _end_lease(self, lease: Lease) -> None:
        how = self._exit.how if self._exit is not None else "lost"
        lease.close(release=how in {"closed", "handed over"})

    def _end_writer(self, writer: BusWriter) -> None:
        writer.close(flush=self._exit is not None and self._exit.how in {"closed", "handed over"})

    def _break_down(self, error: Exception) -> TermEnd | None:
        """Close the house for an error of our own; None where that is not ours to do."""
        if not self._begun or self._stopping.asked:
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
        return closing.at_once(LAST_S, self._scheduler.fail)
