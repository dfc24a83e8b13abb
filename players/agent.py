"""`Agent`: a participant on the bus that plays one seat or a thousand. It routes deliveries to its players and sends
their replies.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Self

from pykka import ActorRef

from players.actor import PlayerActor
from players.brain import Brain, LaterBrain
from wolfbus.actors import ActorPool, PooledActor, default_pool, tell_if_alive
from wolfbus.agent.answer import Answer
from wolfbus.agent.hearing import Again, News
from wolfbus.agent.outbox import Outbox
from wolfbus.agent.table import Table
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import WolfError
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.requests import Ask, Seated
from wolfbus.view import SeatView

logger = logging.getLogger(__name__)

BrainFor = Callable[[str], Brain | LaterBrain]
"""Makes the brain of a seat from the brain spec it was seated with."""

_SEGMENTS_BYTES: Final = 32_768
"""Prompt text that one message carries, if it can be cut so."""

_PARTING_S: Final = 3.0
"""Seconds in which the players of an earlier game should have let go of what they hold, such as a terminal."""


@dataclass(frozen=True, slots=True)
class Missed:
    """Facts of a game did not reach a seat."""

    game: str
    why: str


class Watch:
    """What an agent's process hears of it; to be overridden. Called from the agent's actor."""

    def behind(self, why: str) -> None:
        """Take note that something was missed, and only joining anew helps."""

    def caught_up(self) -> None:
        """Take note that nothing is missing any more."""

    def moved(self, playing: int, played: int) -> None:
        """Take note of how many games are under way, and how many are over."""


class Agent(PooledActor):
    """One participant: a mailbox in, a stream out, and an actor for every seat it plays.

    Tell it the bodies of what its mailbox says of games, the id of a game that will not end, or `Again` before it joins
    anew. It reads deliveries one at a time: what waits, waits as bytes.

    Args:
        name: its name in the house.
        outbox: where its messages go.
        brain_for: makes the brain of a seat.
        watch: hears how it goes; None for nobody.
    """

    def __init__(self, name: str, outbox: Outbox, brain_for: BrainFor, watch: Watch | None = None) -> None:
        super().__init__()
        self._name = name
        self._outbox = outbox
        self._brain_for = brain_for
        self._watch = watch or Watch()
        self._lock = threading.Lock()
        self._segments: dict[str, set[str]] = {}
        self._table: Table[ActorRef[PlayerActor]] = Table(self, outbox)
        self._played = 0
        self._at_table = 0
        self._left = threading.Condition()

    @classmethod
    def listen(
        cls,
        name: str,
        house: str,
        bus: Bus,
        reader: BusReader,
        writer: BusWriter,
        pool: ActorPool,
        brain_for: BrainFor,
    ) -> ActorRef[Self]:
        """Start an agent in `pool` that hears its mailbox from what is new on it now, without joining the house."""
        ref = cls.start_in(pool, name, Outbox(house, name, bus, writer), brain_for)
        stream = streams.inbox(house, name)

        def deliver(_stream: str, entries: Sequence[Entry]) -> None:
            for entry in entries:
                ref.tell(entry.body)

        reader.follow(stream, deliver, bus.last_id(stream))
        return ref

    def send(self, game: str, body: bytes, kind: str = "reply") -> None:
        """Send one packed message; safe from any thread."""
        self._outbox.send(game, body, kind)

    def send_segments(self, game: str, seat: str, texts: Sequence[PromptText]) -> None:
        """Send what no seat of this agent has sent of a game's prompt text; safe from any thread.

        It stands in the stream before anything that is sent after this returns, whoever of the seats sent it.
        """
        with self._lock:
            known = self._segments.get(game)
            if known is None:
                logger.debug("%s has left game %s: prompt text is not sent any more", seat, game)
                return
            new = []
            for text in texts:
                name = segment_hash(text.after, text.role, text.text)
                if name not in known:
                    known.add(name)
                    new.append(plain(text))
            for some in _by_size(new):
                report = {"v": PROTOCOL, "type": "segments", "game": game, "seat": seat, "texts": some}
                self._outbox.send(game, pack(report), "segments")

    def missed(self, game: str, why: str) -> None:
        """Take note that facts of a game did not reach a seat; safe from any thread."""
        tell_if_alive(self.actor_ref, Missed(game, why))

    def left(self) -> None:
        """Take note that a player has let go of all that it had; safe from any thread."""
        with self._left:
            self._at_table -= 1
            self._left.notify_all()

    def on_receive(self, message: Any) -> None:
        """Hear one message of the mailbox, or leave the game of an id."""
        if isinstance(message, str):
            self._table.leave(message)
        elif isinstance(message, Missed):
            self._table.lost(message.game, message.why)
        elif isinstance(message, Again):
            self._table.again()
        else:
            self._table.hear(message)

    def on_stop(self) -> None:
        """Stop all players."""
        self._table.clear()

    def sit_down(self, seated: Seated) -> ActorRef[PlayerActor]:
        """Start the player of a seat."""
        game = seated.game
        with self._lock:
            first = game not in self._segments
            self._segments.setdefault(game, set())
        if first:
            self._watch.moved(len(self._table), self._played)
        brain = self._brain_of(seated, self._make_brain)
        with self._left:
            self._at_table += 1
        return PlayerActor.start_in(self._pool or default_pool(), game, seated.seat, brain, self)

    def tell(self, player: ActorRef[PlayerActor], news: News) -> None:
        """Hand a seat its news."""
        if not tell_if_alive(player, news):
            logger.debug("%s has left its game", player)

    def rise(self, game: str, players: Sequence[ActorRef[PlayerActor]]) -> None:
        """Stop the players of a game."""
        for ref in players:
            ref.stop(block=False)
        with self._lock:
            self._segments.pop(game, None)
        self._played += 1
        self._watch.moved(len(self._table), self._played)

    def another(self, seated: Seated) -> Brain | LaterBrain:
        """Return a brain that knows nothing yet, for a seat whose game goes on from before what was told; safe from any
        thread. Prompt text of that game is sent anew.
        """
        with self._lock:
            if seated.game in self._segments:
                self._segments[seated.game] = set()
        return self._brain_of(seated, self._brain_for)

    def _brain_of(self, seated: Seated, make: BrainFor) -> Brain | LaterBrain:
        try:
            return make(seated.brain)
        except Exception as error:
            where = {"game": seated.game}
            logger.exception("%s: the brain of %s could not be made", self._name, seated.seat, extra=where)
            return _Unmade(f"the brain could not be made: {type(error).__name__}: {error}")

    def _make_brain(self, label: str) -> Brain | LaterBrain:
        here = len(self._table.seats)
        crowded = self._at_table > here
        try:
            return self._brain_for(label)
        except WolfError:
            if not crowded:
                raise
        # there is one terminal, say, and its player of the game before is still on the way out
        with (self._pool or default_pool()).blocking(), self._left:
            self._left.wait_for(lambda: self._at_table <= here, _PARTING_S)
        return self._brain_for(label)

    def behind(self, game: str, why: str) -> None:
        """Ask to be caught up with a game."""
        self._watch.behind(f"game {game}: {why}")

    def caught_up(self) -> None:
        """Take note that no game is behind."""
        self._watch.caught_up()


def _by_size(pieces: Sequence[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    """Cut a list of pieces so that each part makes one message of moderate size."""
    part: list[dict[str, object]] = []
    size = 0
    for piece in pieces:
        length = len(str(piece["text"]).encode())
        if part and size + length > _SEGMENTS_BYTES:
            yield part
            part, size = [], 0
        part.append(piece)
        size += length
    if part:
        yield part


class _Unmade:
    """Stands in for a brain that could not be made: every request is closed at once, and the record says why."""

    quick = True

    def __init__(self, note: str) -> None:
        self._note = note[:300]

    def answer(self, _ask: Ask, _view: SeatView, /) -> Answer:
        return Answer(None, fault="failed", note=self._note)
