"""A small agent on a bus, written against the wire alone: it plays scripted seats, and can be killed like a process."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import count

from players.scripted import ScriptedBrain
from wolfbus.agent.answer import answer_of
from wolfbus.bus import open_bus, streams
from wolfbus.bus.protocol import Entry
from wolfbus.errors import BusDown
from wolfbus.messages.codec import decode_delivery, encode, pack, plain
from wolfbus.messages.house import Join
from wolfbus.messages.requests import Ask, Delivery, SeatPart
from wolfbus.view import SeatView

_starts = count(int(time.time() * 1000))

Say = Callable[[str], None]
"""Called with each request just before its reply goes out."""


class OutsideAgent:
    """Plays every seat it is given in any number of games, one message at a time, on a thread and a bus of its own.

    Args:
        url: the bus.
        house: house name.
        name: its name.
        joins: whether it says `join` when it starts.
        answers: makes the messages by which a request is answered; None for one scripted reply.
        kinds: kinds it answers; None for all.
    """

    def __init__(
        self,
        url: str,
        house: str,
        name: str,
        *,
        joins: bool = False,
        answers: Callable[[str, Ask, bytes], list[bytes]] | None = None,
        silent: Callable[[Ask], bool] = lambda _: False,
    ) -> None:
        self.name = name
        self.asked: Counter[str] = Counter()
        self.heard: list[Delivery] = []
        self._bus = open_bus(url)
        self._out = streams.outbox(house, name)
        self._inbox = streams.inbox(house, name)
        self._incarnation = next(_starts)
        self._sent = 0
        self._answers = answers
        self._silent = silent
        self._views: dict[tuple[str, str], SeatView] = {}
        self._brain = ScriptedBrain()
        self._dead = threading.Event()
        self._reader = self._bus.reader()
        self._reader.follow(self._inbox, self._bus.last_id(self._inbox))
        self._name = name
        if joins:
            self._join()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """End it in the middle of whatever it does."""
        self._dead.set()
        self._reader.close()
        self._thread.join()
        self._bus.close()

    def _run(self) -> None:
        while not self._dead.is_set():
            for _, entries in self._read():
                for entry in entries:
                    if self._dead.is_set():
                        break
                    if entry.game:
                        self._hear(decode_delivery(entry.body))
                    elif entry.type == "roll_call":
                        self._join()

    def _read(self) -> list[tuple[str, list[Entry]]]:
        try:
            return self._reader.read(60.0)
        except BusDown:
            # it was closed between our last look and this read
            if not self._dead.is_set():
                raise
            return []

    def _join(self) -> None:
        join = Join(agent=self._name, instance=str(self._incarnation), version="test", brain="scripted", seats=99)
        self._send("", "join", encode(join))

    def _hear(self, delivery: Delivery) -> None:
        self.heard.append(delivery)
        for part in delivery.seats:
            if (delivery.game, part.seat) not in self._views:
                if part.facts and part.facts[0].n == 1:
                    self._views[delivery.game, part.seat] = SeatView(me=part.seat)
                else:
                    return  # of a seat that was played by an earlier start of this agent: a catch-up follows
        parts: dict[str, SeatPart] = {part.seat: part for part in delivery.seats}
        for (game, seat), view in self._views.items():
            if game != delivery.game:
                continue
            for fact in delivery.facts:
                view.hear_public(fact)
            part = parts.get(seat)
            for private in part.facts if part else ():
                view.hear_private(private)
            for ask in part.asks if part else ():
                self._answer(game, seat, ask, view)

    def _answer(self, game: str, seat: str, ask: Ask, view: SeatView) -> None:
        self.asked[ask.id] += 1
        if self.asked[ask.id] > 1 or self._silent(ask) or self._dead.is_set():
            return
        answer = answer_of(ask.kind, self._brain.answer(ask, view))
        assert answer.content is not None
        reply = pack(
            {
                "v": 1, "type": "reply", "game": game, "request": ask.id, "seat": seat, "kind": ask.kind,
                "content": plain(answer.content), "thought": f"{seat} thinks",
            }
        )  # fmt: skip
        for body in self._answers(game, ask, reply) if self._answers else [reply]:
            self._send(game, "reply", body)

    def _send(self, game: str, kind: str, body: bytes) -> None:
        self._sent += 1
        entry = Entry(body, kind, self.name, game, self._sent, f"{self._incarnation}-{self._sent}")
        self._bus.append(self._out, [entry])
