"""The moderator's side of a house: it owns the house's epoch, opens games, and routes what agents send to the game it
is for.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from pykka import ActorRef

from moderator.actor import Begin, GameOver, Incoming, Leave, ModeratorActor
from wolfbus.actors import ActorPool, Timers, tell_if_alive
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import WolfError
from wolfbus.messages.events import Opened
from wolfbus.record.writer import RecordFile

logger = logging.getLogger(__name__)


class ModeratorHouse:
    """Moderates the games of one house on one bus.

    Args:
        house: its name.
        bus: where its streams are; the house is claimed at once, fencing any moderator before.
        reader: the process's bus reader.
        writer: the process's bus writer.
        pool: where the moderators of single games run.
        timers: the process's timers.
        holder: name of this process in the owner's entry.
    """

    def __init__(
        self,
        house: str,
        bus: Bus,
        reader: BusReader,
        writer: BusWriter,
        pool: ActorPool,
        timers: Timers,
        holder: str = "moderator",
    ) -> None:
        self._house = house
        self._bus = bus
        self._reader = reader
        self._writer = writer
        self._pool = pool
        self._timers = timers
        self.epoch = bus.claim(house, holder)
        self._games: dict[str, ActorRef[ModeratorActor]] = {}
        self._lock = threading.Lock()

    def listen(self, agent: str) -> None:
        """Read an agent's out stream, from what is new on it now."""
        stream = streams.outbox(self._house, agent)

        def deliver(_stream: str, entries: Sequence[Entry]) -> None:
            self._route(agent, entries)

        self._reader.follow(stream, deliver, self._bus.last_id(stream))

    def open(self, opened: Opened, file: RecordFile | None, over: Callable[[GameOver], None]) -> None:
        """Start a game; `over` is called once, from the game's actor, when it has ended or cannot go on."""

        def leave(result: GameOver) -> None:
            with self._lock:
                self._games.pop(result.game, None)
            over(result)

        ref = ModeratorActor.start_in(
            self._pool, self._house, self.epoch, opened, self._writer, self._timers, file, leave
        )
        with self._lock:
            # before anybody can write to the game, it has been told to begin
            ref.tell(Begin())
            self._games[opened.game] = ref

    def stop(self, reason: WolfError | None = None) -> None:
        """Stop every game where it stands; their records stay readable.

        Args:
            reason: why; with one, the games are told to leave and are not waited for.
        """
        with self._lock:
            refs = list(self._games.values())
        for ref in refs:
            if reason is not None:
                tell_if_alive(ref, Leave(reason))
            else:
                ref.stop(block=False)
        for ref in refs if reason is None else ():
            ref.actor_stopped.wait()

    def _route(self, agent: str, entries: Sequence[Entry]) -> None:
        by_game: dict[str, list[Entry]] = {}
        for entry in entries:
            by_game.setdefault(entry.game, []).append(entry)
        for game, found in by_game.items():
            ref = self._games.get(game)
            if ref is None:
                # replies that come after their game is over are the common case, and harmless
                logger.debug("%d messages of %s for game %r found no such game", len(found), agent, game)
                continue
            if not tell_if_alive(ref, Incoming(agent, found)):
                logger.debug("%d messages of %s came after the end of game %s", len(found), agent, game)
