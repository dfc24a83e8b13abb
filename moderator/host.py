"""`Host`: one term of office of a moderator, from the claim of a house until it is closed, handed over or lost.

Everything is decided in one loop on one thread; what the bus and the games have to say is put into its queue.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import re
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final

from moderator.actor import GameOver
from moderator.archives import Archives
from moderator.breakdown import close_after_breakdown
from moderator.closing import Closing
from moderator.departure import Departure, How
from moderator.house import ModeratorHouse
from moderator.housekeeping import Chores, Housekeeper, tidy_house, tidy_mailbox
from moderator.lease import Lease
from moderator.programme import Programme
from moderator.reception import Reception, who_knocked
from moderator.roster import Roster
from moderator.session import Seeds, Session
from moderator.settings import GameResult, Settings
from moderator.tickets import Tickets
from wolfbus.actors import ActorPool, Timers
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import BusDown, BusError, Fenced, StreamLost
from wolfbus.messages.base import ID_PATTERN
from wolfbus.service.health import Health
from wolfbus.service.stop import Stopping

logger = logging.getLogger(__name__)

GLANCE_S: Final = 0.1
"""Longest time between two looks at what is due."""

LAST_S: Final = 5.0
"""How long the end of a term may take before the bus is given up."""

_POOL: Final = 2


class Host:
    """Moderates a house that was claimed.

    Args:
        bus: where it is; closed before its time if it does not let go.
        settings: what the service was told.
        epoch: the owner epoch.
        stopping: asked when this process should end.
        health: told how it goes.
        told: called with the result of every game.
        tickets: who holds one; None where anybody may come.
    """

    def __init__(
        self,
        bus: Bus,
        settings: Settings,
        epoch: int,
        stopping: Stopping,
        health: Health,
        told: Callable[[GameResult], None],
        tickets: Tickets | None = None,
    ) -> None:
        self._bus = bus
        self._set = settings
        self._name = settings.house
        self._epoch = epoch
        self._stopping = stopping
        self._health = health
        self._told = told
        self._tickets = tickets
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._departure: Departure | None = None
        self._ended = threading.Event()
        self._away = False
        self._unkept = False
        self._next_round = 0.0
        self._known: set[str] = set()
        self._begun = False
        self._session = Session()
        self._archives = Archives(bus, settings.house, self._session, settings.keep_s)
        self._roster = Roster(settings.config.seats, settings.heartbeat_s)
        self._closing: Closing | None = None

    def run(self) -> Departure:
        """Moderate until the term is over.

        Raises:
            BusError: the house cannot be moderated at all; one clear line.
        """
        impatience = threading.Thread(target=self._lose_patience, name="impatience", daemon=True)
        impatience.start()
        try:
            with contextlib.ExitStack() as ending:
                try:
                    self._begin(ending)
                    while self._departure is None:
                        self._do_next()
                        self._try(self._look_around)
                except BusError:
                    raise
                except Exception as error:
                    self._departure = self._break_down(error)
                    if self._departure is None:
                        raise
                if self._departure.how == "handed over":
                    self._house.hand_over()
                elif self._departure.how != "closed":
                    self._house.stop(Fenced(self._departure.reason))
        finally:
            self._ended.set()
            impatience.join()
        return self._departure

    # -- beginning

    def _begin(self, ending: contextlib.ExitStack) -> None:
        lease = Lease(self._bus, self._name, self._epoch, self._set.lease_s, self._later(self._refused))
        ending.callback(self._end_lease, lease)
        pool = ActorPool(_POOL)
        ending.callback(pool.close)
        timers = Timers()
        ending.callback(timers.close)
        writer = BusWriter(self._bus, on_error=self._bus_failed)
        ending.callback(self._end_writer, writer)
        self._reader = BusReader(self._bus, on_error=self._bus_failed)
        ending.callback(self._reader.close)
        hear, unsaid = self._later(self._heard), self._later(self._unsaid)
        self._house = ModeratorHouse(
            self._name, self._bus, self._reader, writer, pool, timers, self._epoch, hear, unsaid
        )
        ending.callback(self._house.stop)
        self._housekeeper = Housekeeper(self._bus, self._name, self._later(self._roster.count_unread))
        ending.callback(self._housekeeper.close)
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
        writer.start()
        self._reader.start()
        self._begun = True
        self._take_over()

    def _take_over(self) -> None:
        """Go on where the last moderator stopped, or open a new session; then ask who is here."""
        session = self._session
        session.catch_up(self._bus, self._name)
        if session.running:
            self._archives.recall()
            logger.info("session %s goes on, %d games begun", session.name, session.games)
        else:
            self._house.announce(session.open())
            logger.info("session %s opens", session.name)
        cursors = self._bus.cursors(self._name)
        lobby = streams.lobby(self._name)
        knocked = self._bus.last_id(lobby)
        if self._tickets is not None:
            self._roster.tickets = self._tickets.read()
            known = set(self._roster.tickets)
        else:
            out = streams.outbox(self._name, "")
            known = {stream.removeprefix(out) for stream in cursors if stream.startswith(out)}
            known |= who_knocked(self._bus, lobby)
        self._known = known
        for game, number in sorted(session.under_way.items(), key=lambda item: item[1]):
            self._programme.resume(game, number)
        for playing in self._programme.running.values():
            known.update(seat.agent for seat in playing.opened.seats)
        # only now: what they have sent meanwhile finds its game
        self._reception.call_the_roll(known, cursors)
        self._follow_lobby(knocked)

    def _everybody(self) -> set[str]:
        """Return the names of all whose mailboxes there may be."""
        return {name for name in self._known if re.fullmatch(ID_PATTERN, name)}.union(self._reception.names)

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
                self._refused(error)
                return
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
            if self._departure is None and not self._programme.resume_cut(over.game):
                self._leave("lost", f"the bus loses what it was given: game {over.game} was cut short again and again")
        elif isinstance(over.error, BusDown):
            self._leave("lost", str(over.error))
        else:
            self._programme.finish(over)
            if not self._unkept and not self._roster.present(time.monotonic(), "analytics"):
                self._unkept = True
                logger.info("no analytics service is here: records stay on the bus")

    def _refused(self, error: BusError) -> None:
        """See whose the house is, since the bus has refused something to us."""
        if not isinstance(error, Fenced):
            self._leave("lost", str(error))
            return
        owner = self._bus.owner(self._name)
        if owner.epoch > self._epoch:
            self._leave("fenced", f"house {self._name} belongs to {owner.holder} now")
        elif owner.epoch == 0:
            self._leave("lost", f"the bus lost its data: it knows nothing of house {self._name} any more")
        elif owner.epoch < self._epoch:
            self._leave("anew", "the bus has lost this moderator's claim")

    def _unsaid(self, error: BusError) -> None:
        """Take note that a word of the house did not reach the bus."""
        if isinstance(error, Fenced):
            self._refused(error)
        elif self._closing is not None:
            self._closing.unsaid(error)
        else:
            # perhaps it was a welcome: whoever says join again gets another
            self._roster.members.clear()

    def _bus_failed(self, error: BusError) -> None:
        """Hear what reader and writer say of the bus, from their threads."""
        if isinstance(error, StreamLost):
            self._work.put(partial(self._lost, error))
        elif not self._ended.is_set():
            logger.warning("%s; waiting for it", error)

    def _lost(self, error: StreamLost) -> None:
        """Read on an out stream that has lost something, unless all is lost."""
        logger.warning("%s", error)
        if self._bus.owner(self._name).epoch < self._epoch:
            self._refused(Fenced(str(error)))
            return
        out = streams.outbox(self._name, "")
        if error.stream.startswith(out):
            self._reception.listen_anew(error.stream.removeprefix(out))

    # -- order

    def _keep_house(self) -> None:
        self._reception.admit_new_tickets()
        self._reception.sum_up()
        # of an agent that plays nothing no message is wanted twice
        heard = {
            streams.outbox(self._name, agent): last
            for agent, last in self._reception.heard.items()
            if not self._roster.plays(agent)
        }
        chores = Chores(self._reception.names, {**self._house.settled(), **heard}, self._session.news)
        self._housekeeper.do(tidy_house(self._name, chores, self._set.mailbox))

    # -- ending

    def _leave(self, how: How, reason: str) -> None:
        if self._departure is None:
            self._departure = Departure(how, reason, failed=how == "lost")

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
        house = self._bus, self._name, self._epoch, self._house
        return close_after_breakdown(*house, self._session, self._archives, self._programme, self._everybody(), LAST_S)

    def _lose_patience(self) -> None:
        """Close the bus if it holds up the end of the term."""
        until: float | None = None
        while not self._ended.wait(GLANCE_S):
            if self._stopping.asked or self._departure is not None:
                until = until or time.monotonic() + LAST_S
                if time.monotonic() >= until:
                    self._bus.close()
                    return
