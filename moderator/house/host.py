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
from typing import Final

from moderator.engine.actor import GameOver
from moderator.engine.cursors import dealt_with
from moderator.house.archives import Archives
from moderator.house.breakdown import close_after_breakdown
from moderator.house.closing import Closing
from moderator.house.departure import Departure, How, forgotten
from moderator.house.games import ModeratorHouse
from moderator.house.housekeeping import Chores, Housekeeper, tidy_house, tidy_mailbox
from moderator.house.lease import Claim, Lease, has_news
from moderator.house.lobby import Reception
from moderator.house.roster import Roster
from moderator.house.scheduler import Programme
from moderator.house.session import Seeds, Session
from moderator.house.settings import GameResult, Settings
from moderator.house.summaries import Abridging
from moderator.house.takeover import TakeOver
from moderator.house.tickets import Tickets
from moderator.house.watchdog import LAST_S, Impatience
from wolfbus.actors import ActorPool, Timers
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import BusDown, BusError, BusFull, Fenced, StreamLost
from wolfbus.service.health import Health
from wolfbus.service.stop import Stopping

logger = logging.getLogger(__name__)

GLANCE_S: Final = 0.1
"""Longest time between two looks at what is due."""

_POOL: Final = 2


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
        playing: games that this moderator had under way before the bus went backwards.
    """

    def __init__(
        self,
        bus: Bus,
        settings: Settings,
        claim: Claim,
        stopping: Stopping,
        health: Health,
        told: Callable[[GameResult], None],
        tickets: Tickets | None = None,
        playing: tuple[str, ...] = (),
    ) -> None:
        self._bus = bus
        self._set = settings
        self._name = settings.house
        self._claim = claim
        self._stopping = stopping
        self._health = health
        self._told = told
        self._tickets = tickets
        self._playing = playing
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._departure: Departure | None = None
        self._ended = False
        self._away = False
        self._unkept = False
        self._next_round = 0.0
        self._begun = False
        self._session = Session(opens=settings.agenda.session if settings.agenda is not None else None)
        self._archives = Archives(bus, settings.house, self._session, settings.keep_s)
        self._roster = Roster(settings.config.seats, settings.heartbeat_s)
        self._closing: Closing | None = None

    def run(self) -> Departure:
        """Moderate until the term is over.

        Raises:
            BusError: the house cannot be moderated at all; one clear line.
        """
        impatience = Impatience(self._bus, lambda: self._stopping.asked or self._departure is not None)
        try:
            with contextlib.ExitStack() as ending:
                try:
                    self._begin(ending)
                    while self._departure is None:
                        self._do_next()
                        self._try(self._look_around)
                except BusDown:
                    if not self._stopping.asked:
                        raise
                except BusError:
                    raise
                except Exception as error:
                    self._departure = self._break_down(error)
                    if self._departure is None:
                        raise
                departure = self._departure or Departure("handed over", self._stopping.why)
                if departure.how == "handed over" and self._begun:
                    self._house.hand_over()
                elif departure.how != "closed" and self._begun:
                    self._house.stop(Fenced(departure.reason))
        finally:
            self._ended = True
            impatience.close()
        return departure

    # -- beginning

    def _begin(self, ending: contextlib.ExitStack) -> None:
        claim = self._claim
        lease = Lease(self._bus, self._name, claim.holder, claim.epoch, self._set.lease_s, self._later(self._refused))
        ending.callback(self._end_lease, lease)
        pool = ActorPool(_POOL)
        ending.callback(pool.close)
        timers = Timers()
        ending.callback(timers.close)
        writer = BusWriter(self._bus, on_error=self._bus_failed)
        ending.callback(self._end_writer, writer)
        self._reader = BusReader(self._bus, on_error=self._bus_failed)
        ending.callback(self._reader.close)
        self._house = ModeratorHouse(
            self._name,
            self._bus,
            self._reader,
            writer,
            pool,
            timers,
            claim.epoch,
            self._later(self._heard),
            self._later(self._unsaid),
            self._later(self._gone_backwards),
        )
        ending.callback(self._house.stop)
        self._housekeeper = Housekeeper(self._bus, self._name, self._later(self._roster.count_unread))
        ending.callback(self._housekeeper.close)
        self._abridging = Abridging(self._name, self._session, self._house.announce, self._housekeeper.do)
        seeds = Seeds(self._set.seed, alone=self._set.games == 1)
        self._reception = Reception(
            self._name,
            self._bus,
            self._house,
            self._roster,
            self._set.heartbeat_s,
            self._archives.take,
            lambda agent, seen: self._housekeeper.do(tidy_mailbox(self._name, agent, seen)),
            self._tickets,
            seeds,
        )
        over = self._later(self._over)
        self._programme = Programme(
            self._set, self._bus, self._house, self._session, self._roster, seeds, over, self._told, self._everybody
        )
        self._takeover = TakeOver(
            self._name,
            self._bus,
            self._house,
            self._session,
            self._archives,
            self._roster,
            self._programme,
            self._tickets,
            self._playing,
        )
        writer.start()
        self._reader.start()
        self._begun = True
        self._try(self._take_over)

    def _take_over(self) -> None:
        """Go on where the last moderator stopped, or open a new session; then ask who is here.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        # only once the games are there: what agents have sent meanwhile finds its game
        knocked, cursors = self._takeover.take_up()
        self._reception.call_the_roll(self._takeover.known, cursors)
        self._follow_lobby(knocked)

    def _everybody(self) -> set[str]:
        """Return the names of all whose mailboxes there may be."""
        return {*self._takeover.names, *self._reception.names}

    def _follow_lobby(self, after: str) -> None:
        knocked = self._later(self._knocked)
        self._reader.follow(streams.lobby(self._name), knocked, after, lambda _: self._follow_lobby("0-0"))

    # -- the loop

    def _later(self, work: Callable[..., None]) -> Callable[..., None]:
        """Return what has `work` done by the loop, and may be called from any thread."""
        return lambda *words: self._work.put(partial(work, *words))

    def _do_next(self) -> None:
        """Do what has come in, in order; wait a moment if nothing has."""
        try:
            work = self._work.get(timeout=GLANCE_S)
            while self._departure is None:
                self._try(work)
                work = self._work.get_nowait()
        except queue.Empty:
            return

    def _try(self, work: Callable[[], None]) -> None:
        """Do something that may need the bus; while that is away, again and again."""
        while self._departure is None:
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
        self._reception.urge(self._roster.lagging(now))
        if self._closing is None:
            self._programme.open_games()
            if self._programme.all_begun and not self._programme.running:
                self._programme.let_go()
                self._closing = self._close()
        if self._closing is not None:
            self._departure = self._departure or self._closing.go_on(now)
        self._tell_health()

    def _tell_health(self) -> None:
        running = len(self._programme.running)
        state = "closing" if self._closing is not None else "playing" if running else "waiting for agents"
        failed = self._session.failed + self._archives.failed
        self._health.set(state, session=self._session.name, games=self._session.games, running=running, failed=failed)

    def _close(self) -> Closing:
        given_up = self._programme.given_up
        return Closing(
            given_up or "all games are over",
            given_up is not None,
            self._set,
            self._bus,
            self._house,
            self._session,
            self._archives,
            self._roster,
            self._reception,
            self._tickets,
        )

    # -- what comes in

    def _heard(self, agent: str, entry: Entry) -> None:
        try:
            self._reception.hear(agent, entry)
        except BusError:
            raise
        except Exception:
            # no agent's word may end a house
            logger.exception("a message of %s failed", agent, extra={"agent": agent})

    def _knocked(self, _stream: str, entries: list[Entry]) -> None:
        for entry in entries:
            try:
                self._reception.knock(entry)
            except BusError:
                raise
            except Exception:
                logger.exception("a knock failed")

    def _over(self, over: GameOver) -> None:
        if over.game not in self._programme.running:
            return
        if isinstance(over.error, Fenced):
            self._refused(over.error)
        elif isinstance(over.error, BusDown | BusFull):
            self._lose(over.error)
        else:
            self._programme.finish(over)
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
            self._reception.unreachable(stream.removeprefix(box), error)
        elif self._closing is not None:
            self._closing.unsaid(error)

    def _bus_failed(self, error: BusError) -> None:
        """Hear what reader and writer say of the bus, from their threads."""
        if not self._ended:
            logger.warning("%s; waiting for it", error)

    def _gone_backwards(self, error: StreamLost) -> None:
        """End the term: an out stream ends before what was read of it."""
        self._refused(Fenced(str(error)))

    # -- order

    def _keep_house(self) -> None:
        self._reception.admit_new_tickets()
        self._reception.sum_up()
        self._house.settle()
        dealt = dealt_with(self._bus, self._name)
        self._session.catch_up(self._bus, self._name)
        self._programme.let_go()
        self._abridging.look()
        chores = Chores(self._reception.names, dealt, self._session.news)
        self._housekeeper.do(tidy_house(self._name, chores, self._set.mailbox))

    # -- ending

    def _leave(self, how: How, reason: str) -> None:
        if self._departure is None:
            playing = (*self._takeover.playing, *self._programme.running) if how == "anew" else ()
            self._departure = Departure(how, reason, failed=how == "lost", playing=playing)

    def _lose(self, error: BusError) -> None:
        """End the term because the bus does not serve; after a request to stop that is a hand-over all the same."""
        if self._stopping.asked and isinstance(error, BusDown):
            self._leave("handed over", self._stopping.why)
        else:
            self._leave("lost", str(error))

    def _end_lease(self, lease: Lease) -> None:
        how = self._departure.how if self._departure is not None else "lost"
        lease.close(release=how in {"closed", "handed over"})

    def _end_writer(self, writer: BusWriter) -> None:
        writer.close(flush=self._departure is not None and self._departure.how in {"closed", "handed over"})

    def _break_down(self, error: Exception) -> Departure | None:
        """Close the house for an error of our own, so that nobody waits; None where that is not ours to do."""
        if not self._begun or self._stopping.asked:
            return None
        logger.error("the moderator breaks down, and closes the house if it can", exc_info=error)
        house = self._bus, self._name, self._claim, self._house
        return close_after_breakdown(*house, self._session, self._archives, self._programme, self._everybody(), LAST_S)
