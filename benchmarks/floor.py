"""The floor under a scripted game: the same messages on the same libraries, but no game.

A toy house of pooled pykka actors: a moderator tells every seat, as msgpack bytes, what is new and what it is asked;
the seat reads that by pydantic; its reply goes back as bytes, is read again, and becomes an event. Every event is one
sealed line of canonical JSON in a file, and a message to an analyst, who reads it. There are as many steps, requests
and events as in a game of eight scripted players, and no rules, players, views, deadlines, digests, streams, atomic
commits or measures. Whatever a real game costs above this is wolfbus's own.

    python benchmarks/floor.py --games 100

It prints CPU milliseconds a game.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgpack
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pykka import ActorRef

from wolfbus.actors import ActorPool, PooledActor

SEATS: Final = ("Ada", "Bo", "Chioma", "Dov", "Elif", "Farid", "Greta", "Hugo")
STEPS: Final = ((8, 1), (8, 2), (8, 1), (7, 2), (1, 3), (7, 2), (7, 2), (5, 4))
"""Replies and other events of each step, over and over: 46 steps have 293 replies and 98 other events."""
STEPS_A_GAME: Final = 46


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Bid(_Part):
    """What is answered to a short question."""

    bid: int


class Judgement(_Part):
    """What is answered to a longer one."""

    deceptive: bool
    suspicion: Annotated[float, Field(ge=0.0, le=1.0)]
    confidence: Annotated[float, Field(ge=0.0, le=1.0)]
    kind: Literal["none", "omission", "distortion"]
    reasoning: str


class Answered(_Part):
    """An event: what a seat answered."""

    type: Literal["answered"] = "answered"
    batch: int
    seat: str
    content: Bid | Judgement
    thought: str | None = None


class Question(_Part):
    """What some seats were asked."""

    kind: Literal["bid", "judge"]
    seats: tuple[str, ...]


class Told(_Part):
    """An event: anything else."""

    type: Literal["told"] = "told"
    statement: int
    speaker: str
    text: str
    asks: tuple[Question, ...] = ()


Event: TypeAlias = Annotated[Answered | Told, Field(discriminator="type")]


class Ask(_Part):
    """A question to one seat."""

    id: str
    kind: Literal["bid", "judge"]
    round: int
    turn: int
    legal: tuple[str, ...] | None = None
    deadline_s: float


class Delivery(_Part):
    """What a seat is told with one step: what everybody heard, what it answered last, and what it is asked."""

    v: Literal[1] = 1
    type: Literal["delivery"] = "delivery"
    game: str
    seat: str
    facts: tuple[Event, ...] = ()
    asks: tuple[Ask, ...] = ()


class Reply(_Part):
    """What a seat sends."""

    v: Literal[1] = 1
    type: Literal["reply"] = "reply"
    game: str
    request: str
    seat: str
    content: Bid | Judgement
    thought: str | None = None


Message: TypeAlias = Annotated[Delivery | Reply, Field(discriminator="type")]

ASKED: Final = (Question(kind="bid", seats=SEATS[1:]), Question(kind="judge", seats=SEATS[:1]))
JUDGEMENT: Final = Judgement(
    deceptive=False, suspicion=0.41, confidence=0.58, kind="none", reasoning="Accuses somebody for little."
)
THOUGHT: Final = "Kira could be a Wolf; test the water."
_MESSAGES: Final[TypeAdapter[Delivery | Reply]] = TypeAdapter(Message)
_EVENTS: Final[TypeAdapter[Answered | Told]] = TypeAdapter(Event)
_to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")).encode


def _plain(message: BaseModel) -> dict[str, Any]:
    return message.model_dump(exclude_none=True)


def _pack(message: BaseModel) -> bytes:
    packed: bytes = msgpack.packb(_plain(message))
    return packed


def _unpack(body: bytes) -> Any:
    return msgpack.unpackb(body, use_list=False)


class ToySeat(PooledActor):
    """Answers what it is asked with what costs nothing to think of."""

    def __init__(self, game: str, moderator: ActorRef[Any]) -> None:
        super().__init__()
        self._game = game
        self._moderator = moderator

    def on_receive(self, message: bytes) -> None:
        """Read one delivery, and answer its questions."""
        delivery = _MESSAGES.validate_python(_unpack(message))
        assert isinstance(delivery, Delivery)
        for ask in delivery.asks:
            content = Bid(bid=3) if ask.kind == "bid" else JUDGEMENT
            reply = Reply(game=self._game, request=ask.id, seat=delivery.seat, content=content, thought=THOUGHT)
            self._moderator.tell(_pack(reply))


class ToyAnalyst(PooledActor):
    """Reads every event, and makes nothing of it."""

    def on_receive(self, message: bytes) -> None:
        """Read one event."""
        event = _EVENTS.validate_python(_unpack(message))
        assert event.type


class ToyModerator(PooledActor):
    """Asks, takes in replies and writes events until all steps are done."""

    def __init__(self, game: str, path: Path, pool: ActorPool, done: Callable[[], None]) -> None:
        super().__init__()
        self._game = game
        self._done = done
        self._seats = {seat: ToySeat.start_in(pool, game, self.actor_ref) for seat in SEATS}
        self._analyst = ToyAnalyst.start_in(pool)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT)
        self._step = self._number = 0
        self._hash = ""
        self._open: dict[str, str] = {}
        self._answers: list[Answered] = []

    def on_receive(self, message: Any) -> None:
        """Begin, or take in one reply."""
        if isinstance(message, bytes):
            reply = _MESSAGES.validate_python(_unpack(message))
            assert isinstance(reply, Reply)
            seat = self._open.pop(reply.request)
            self._answers.append(Answered(batch=self._step, seat=seat, content=reply.content, thought=reply.thought))
        if not self._open:
            self._go_on()

    def _go_on(self) -> None:
        self._step += 1
        replies, others = STEPS[self._step % len(STEPS)]
        text = "Something about Kira seems off to me. Kira laughs a little late at every joke."
        told = tuple(Told(statement=self._step, speaker=SEATS[n], text=text, asks=ASKED) for n in range(others))
        events: list[Answered | Told] = [*self._answers, *told]
        os.write(self._file, b"".join(map(self._line, events)))
        answers = {answer.seat: (answer,) for answer in self._answers}
        self._answers = []
        if self._step > STEPS_A_GAME:
            self._leave()
            return
        deliveries = []
        for number, seat in enumerate(SEATS):
            facts = (*told, *answers.get(seat, ()))
            asks: tuple[Ask, ...] = ()
            if number < replies:
                kind: Literal["bid", "judge"] = "bid" if self._step % 2 else "judge"
                name = f"{self._game}/1/debate/{self._step}/{kind}/{seat}"
                asks = (Ask(id=name, kind=kind, round=1, turn=self._step, legal=SEATS, deadline_s=60.0),)
                self._open[name] = seat
            deliveries.append((seat, _pack(Delivery(game=self._game, seat=seat, facts=facts, asks=asks))))
        for seat, body in deliveries:
            self._seats[seat].tell(body)

    def _line(self, event: Answered | Told) -> bytes:
        self._number += 1
        value = _plain(event)
        self._analyst.tell(msgpack.packb(value))
        unsealed = _to_json({**value, "n": self._number, "time": 1.234, "audience": "everybody"})
        self._hash = hashlib.sha256(f"{self._hash}{unsealed}".encode()).hexdigest()
        return f'{{"hash":"{self._hash}",{unsealed[1:]}\n'.encode()

    def _leave(self) -> None:
        os.fdatasync(self._file)
        os.close(self._file)
        refs: list[ActorRef[Any]] = [*self._seats.values(), self._analyst]
        for ref in refs:
            ref.stop(block=False)
        self.stop()
        self._done()


def play(games: int, at_once: int = 16) -> float:
    """Play toy games, so many at a time; returns CPU milliseconds a game."""
    free = threading.Semaphore(at_once)
    with tempfile.TemporaryDirectory(prefix="wolfbus-floor-") as folder, ActorPool(2) as pool:
        cpu = time.process_time()
        for number in range(games):
            free.acquire()
            path = Path(folder) / f"{number}.ndjson"
            ToyModerator.start_in(pool, f"toy-{number}", path, pool, free.release).tell("begin")
        for _ in range(at_once):
            free.acquire()
    cpu = time.process_time() - cpu
    return 1000 * cpu / games


def main() -> None:
    """Play, and print what it took."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--games", type=int, default=100)
    print(f"{play(parser.parse_args().games):.2f} ms of CPU a game")


if __name__ == "__main__":
    main()
