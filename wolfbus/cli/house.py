"""One process that is a whole house: moderator, players and analytics as actors around one bus reader and one
writer.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from wolfbus.actors import ActorPool, Timers, tell_if_alive
from wolfbus.bus import open_bus, streams
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.config import GameConfig
from wolfbus.errors import BusDown, BusError, GivenUp, WolfError
from wolfbus.messages.events import Opened
from wolfbus.record.line import Recorded
from wolfbus.record.writer import RecordFile

if TYPE_CHECKING:
    from pykka import ActorRef

    from analytics.archive.folding import AnalyticsActor
    from analytics.rows import GameRows
    from moderator.engine.mail import GameOver
    from players.venue import Venue
    from wolfbus.bus.protocol import Bus, Entry


logger = logging.getLogger(__name__)


def tune_garbage_collection() -> None:
    """Let the cyclic collector run less often: games make many short-lived values and few cycles (a sixth of all
    CPU).
    """
    gc.set_threshold(50_000, 20, 20)


AGENT = "local"
"""The one agent of an embedded house; it plays every seat."""


@dataclass(slots=True)
class Game:
    """A game under way.

    Attributes:
        opened: its opening event.
        started: monotonic time of its start, in seconds.
        finished: set when the moderator and analytics are both through with it.
        over: how it left the moderator, once it did.
        rows: what analytics made of it, once it has ended; None if that failed.
        folded: whether analytics is through with it.
        seconds: wall time from opening to the last commit.
    """

    opened: Opened
    started: float
    finished: threading.Event = field(default_factory=threading.Event)
    over: GameOver | None = None
    rows: GameRows | None = None
    folded: bool = False
    seconds: float = 0.0


class House:
    """Runs games in this process on one bus, `memory://` or Redis.

    Args:
        bus: bus URL, or a bus that is open already; it is closed with the house.
        name: house name on the bus.
        threads: pool threads that run the actors.
        watch: sees every event of every game in record order; None for nobody.
        done: called with every finished game, from an actor's thread; None for nobody.
        venue: what the brains of this process share; whoever gives it closes it after the house.
        keep_s: seconds that the record of a game that is over stays on a Redis, >= 0; None for ever.
    """

    def __init__(
        self,
        bus: str | Bus = "memory://",
        name: str | None = None,
        threads: int = 2,
        watch: Callable[[Recorded], None] | None = None,
        done: Callable[[Game], None] | None = None,
        venue: Venue | None = None,
        keep_s: float | None = None,
    ) -> None:
        from analytics.archive.folding import AnalyticsActor
        from moderator.engine.context import HouseContext
        from moderator.house.games import Games
        from players.spec import build
        from players.venue import Venue
        from wolfbus.agent.router import SeatRouter
        from wolfbus.bus.url import read_address

        self.name = name or f"play-{secrets.token_hex(4)}"
        self._done = done
        self._keep_s = keep_s
        self._games: dict[str, Game] = {}
        self._lock = threading.Lock()
        self._hasty = False
        self._ending = contextlib.ExitStack()
        try:
            self._bus: Bus = open_bus(bus) if isinstance(bus, str) else bus
            self._ending.callback(self._bus.close)
            self._pool = ActorPool(threads)
            self._ending.callback(self._pool.close)
            self._timers = Timers()
            self._ending.callback(self._timers.close)
            # nothing outlives a bus in memory, so what was read there need not stay; on Redis others may still want it
            self._in_memory = self._bus.url.startswith("memory:")
            self._writer = BusWriter(self._bus, on_error=self._fail)
            self._ending.callback(self._close_writer)
            self._reader = BusReader(self._bus, on_error=self._fail, forget=self._in_memory)
            self._analytics: ActorRef[AnalyticsActor] = AnalyticsActor.start_in(self._pool, self._folded, watch)
            self._ending.callback(self._analytics.stop)
            if venue is None:
                venue = Venue()
                self._ending.callback(venue.close)
            venue.fatal = self._fatal
            make = partial(build, venue=venue)
            self._agent = SeatRouter.listen(AGENT, self.name, self._bus, self._reader, self._writer, self._pool, make)
            self._ending.callback(self._agent.stop)
            self._ending.callback(self._reader.close)
            self._moderator = Games(
                HouseContext(
                    self.name,
                    self._bus.claim(self.name, f"play-{os.getpid()}"),
                    self._bus,
                    self._reader,
                    self._writer,
                    self._pool,
                    self._timers,
                    # nobody makes room on it but who runs it
                    full_s=None if self._in_memory or not isinstance(bus, str) else read_address(bus).patience_s,
                )
            )
            self._ending.callback(self._moderator.stop)
            self._moderator.listen(AGENT)
            self._writer.start()
            self._reader.start()
        except BaseException:
            self.abandon()
            self.close()
            raise

    def open(
        self, config: GameConfig, seed: str, brains: Sequence[str], path: Path | None = None, game: str | None = None
    ) -> Game:
        """Start a game and return at once.

        Args:
            config: its rules.
            seed: its seed.
            brains: brain spec per seat, in seating order.
            path: NDJSON record to write; None for none.
            game: its id; a fresh one unless given.
        """
        opened = opening(config, seed, brains, game or fresh_game_id())
        under_way = Game(opened, time.monotonic())
        file = RecordFile(path) if path is not None else None
        with self._lock:
            self._games[opened.game] = under_way
        self._reader.follow(streams.record(self.name, opened.game), self._observe)
        self._moderator.open(opened, file, self._over)
        return under_way

    def _observe(self, _stream: str, entries: list[Entry]) -> None:
        tell_if_alive(self._analytics, entries)

    def _over(self, over: GameOver) -> None:
        game = self._games.get(over.game)
        if game is None:
            return
        game.over = over
        game.seconds = time.monotonic() - game.started
        if over.error is not None or game.folded:
            self._finish(game)

    def _folded(self, name: str, rows: GameRows | None) -> None:
        game = self._games.get(name)
        if game is None:
            return
        game.rows, game.folded = rows, True
        if game.over is not None:
            self._finish(game)

    def _finish(self, game: Game) -> None:
        with self._lock:
            if self._games.pop(game.opened.game, None) is None:
                return
        self._reader.unfollow(streams.record(self.name, game.opened.game))
        self._forget(game.opened.game)
        if game.over is None or game.over.error is not None:
            if game.over is not None and isinstance(game.over.error, BusError):
                self.abandon()
            tell_if_alive(self._agent, game.opened.game)
            tell_if_alive(self._analytics, game.opened.game)
        try:
            if self._done is not None:
                self._done(game)
        finally:
            game.finished.set()

    def _forget(self, game: str) -> None:
        keep_s = 0.0 if self._in_memory else self._keep_s
        if keep_s is not None:
            try:
                self._bus.expire(self.name, game, keep_s)
            except BusError as error:
                logger.debug("game %s stays on the bus: %s", game, error)

    def _fail(self, error: BusError) -> None:
        """End what a lost stream makes impossible; a bus that is only away may come back."""
        if self._hasty:
            return
        if isinstance(error, BusDown):
            logger.warning("%s; waiting for it", error)
            return
        self._moderator.stop(error)

    def _fatal(self, reason: WolfError) -> None:
        self.end(reason, reason.game if isinstance(reason, GivenUp) else None)

    def end(self, reason: WolfError, game: str | None = None) -> None:
        """Break off every game, or one; each record says why, and its `Game` is finished when that has landed."""
        self._moderator.stop(reason, game)

    def abandon(self) -> None:
        """Do not wait for the bus any more when closing: what has not landed by then never will."""
        self._hasty = True

    def close(self) -> None:
        """Stop whatever still runs and end every thread; records stay readable."""
        if self._hasty and hasattr(self, "_bus"):
            self._bus.close()
        self._ending.close()

    def _close_writer(self) -> None:
        self._writer.close(flush=not self._hasty)
        if not self._hasty:
            self._empty_mailboxes()

    def _empty_mailboxes(self) -> None:
        """Leave on the bus what others may want, the records and tables, but not this process's own mail."""
        try:
            for stream in (streams.inbox(self.name, AGENT), streams.outbox(self.name, AGENT)):
                self._bus.trim(stream, self._bus.last_id(stream))
        except BusError as error:
            logger.debug("the mailboxes of house %s were left as they are: %s", self.name, error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def opening(config: GameConfig, seed: str, brains: Sequence[str], game: str) -> Opened:
    """Return the opening event of a game whose seats are all played by this process."""
    from moderator.engine import seating
    from players.spec import declined_by

    takers = [seating.Taker(AGENT, brain, declined_by(brain)) for brain in brains]
    return seating.opening(config, seed, takers, game)


def fresh_game_id() -> str:
    """Return an id no other run will use: the time of day and a random tail; it feeds no draw."""
    return time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(3)
