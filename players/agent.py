"""`Agent`: a participant on the bus that plays one seat or a thousand. It routes deliveries to its players and sends
their replies.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self

from pykka import ActorRef

from players.actor import News, PlayerActor
from players.brain import Answer, Brain, LaterBrain
from wolfbus.actors import ActorPool, PooledActor, default_pool, tell_if_alive
from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusReader, BusWriter
from wolfbus.errors import MessageError
from wolfbus.messages.base import PROTOCOL
from wolfbus.messages.calls import PromptText, segment_hash
from wolfbus.messages.codec import decode_delivery, pack, plain
from wolfbus.messages.delivery import Ask, Delivery, Seated, SeatPart
from wolfbus.view import SeatView

logger = logging.getLogger(__name__)

_SEGMENTS_BYTES: Final = 32_768
"""Prompt text that one message carries, if it can be cut so."""


class Agent(PooledActor):
    """One participant: a mailbox in, a stream out, and an actor for every seat it plays.

    Tell it the bodies of the deliveries in its mailbox, or the id of a game that will not end. It reads them one at a
    time: what waits, waits as bytes.

    Args:
        name: its name in the house.
        house: house name.
        bus: where the streams are.
        writer: the process's bus writer.
        brain_for: makes the brain of a seat from the brain spec it was seated with.
    """

    def __init__(
        self, name: str, house: str, bus: Bus, writer: BusWriter, brain_for: Callable[[str], Brain | LaterBrain]
    ) -> None:
        super().__init__()
        self._name = name
        self._writer = writer
        self._brain_for = brain_for
        self._out = streams.outbox(house, name)
        # an older incarnation of this agent cannot write behind our back: ids begin with the start of the process
        self._incarnation = max(int(time.time() * 1000), int(bus.last_id(self._out).split("-")[0]) + 1)
        self._sent = 0
        self._lock = threading.Lock()
        self._segments: dict[str, set[str]] = {}
        self._games: dict[str, dict[str, ActorRef[PlayerActor]]] = {}

    @classmethod
    def listen(
        cls,
        name: str,
        house: str,
        bus: Bus,
        reader: BusReader,
        writer: BusWriter,
        pool: ActorPool,
        brain_for: Callable[[str], Brain | LaterBrain],
    ) -> ActorRef[Self]:
        """Start an agent in `pool` that hears its mailbox from what is new on it now."""
        ref = cls.start_in(pool, name, house, bus, writer, brain_for)
        stream = streams.inbox(house, name)

        def deliver(_stream: str, entries: Sequence[Entry]) -> None:
            for entry in entries:
                ref.tell(entry.body)

        reader.follow(stream, deliver, bus.last_id(stream))
        return ref

    def send(self, game: str, body: bytes) -> None:
        """Send one packed reply; safe from any thread."""
        with self._lock:
            self._append(game, body)

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
                self._append(game, pack(report))

    def _append(self, game: str, body: bytes) -> None:
        self._sent += 1
        entry_id = f"{self._incarnation}-{self._sent}"
        self._writer.append(self._out, Entry(body, "reply", self._name, game, self._sent, entry_id))

    def on_receive(self, message: Any) -> None:
        """Hand out one delivery, or leave the game of an id; what cannot be read is logged: nobody here could answer
        it.
        """
        if isinstance(message, str):
            self._rise(message)
            return
        try:
            self._hand_out(decode_delivery(message))
        except MessageError:
            logger.exception("%s: a delivery could not be read", self._name)

    def on_stop(self) -> None:
        """Stop all players."""
        for game in list(self._games):
            self._rise(game)

    def _hand_out(self, delivery: Delivery) -> None:
        seats = self._games.get(delivery.game)
        if seats is None:
            seats = self._games[delivery.game] = {}
            with self._lock:
                self._segments[delivery.game] = set()
        for part in delivery.seats:
            if part.seat not in seats:
                self._sit_down(seats, part)
        parts: dict[str, SeatPart | None] = {part.seat: part for part in delivery.seats}
        for seat, ref in seats.items():
            own = parts.get(seat)
            if (own is not None or delivery.facts) and not tell_if_alive(ref, News(delivery.facts, own)):
                logger.debug("%s has left game %s", seat, delivery.game)
        if any(news.fact.type == "ended" for news in delivery.facts):
            self._rise(delivery.game)

    def _rise(self, game: str) -> None:
        """Leave a game: its seats are played no more."""
        for ref in self._games.pop(game, {}).values():
            ref.stop(block=False)
        with self._lock:
            self._segments.pop(game, None)

    def _sit_down(self, seats: dict[str, ActorRef[PlayerActor]], part: SeatPart) -> None:
        seated = next((news.fact for news in part.facts if isinstance(news.fact, Seated)), None)
        if seated is None:
            logger.error("%s: asked for seat %s without having been seated", self._name, part.seat)
            return
        try:
            brain: Brain | LaterBrain = self._brain_for(seated.brain)
        except Exception as error:
            logger.exception("%s: the brain of %s could not be made", self._name, part.seat)
            brain = _Unmade(f"the brain could not be made: {type(error).__name__}: {error}")
        pool = self._pool or default_pool()
        seats[part.seat] = PlayerActor.start_in(pool, seated.game, part.seat, brain, self)


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
