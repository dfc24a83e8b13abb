"""From a step's events to what each agent receives, and to what spectators see."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from moderator.referee import OpenRequest
from wolfbus.audience import Herald
from wolfbus.bus import streams
from wolfbus.bus.protocol import Entry
from wolfbus.messages.base import PROTOCOL, SeatName
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.events import AnyEvent, Opened

Plain: TypeAlias = dict[str, Any]
"""A message as plain values. What we build here is a `Delivery`, and every receiver checks that it is."""


class Deliveries:
    """Addresses one game's facts and questions to agents. Players who left go on hearing what is public."""

    def __init__(self, house: str, opened: Opened) -> None:
        self._house = house
        self._game = opened.game
        self._seats: dict[str, list[SeatName]] = {}
        for seat in opened.seats:
            self._seats.setdefault(seat.agent, []).append(seat.name)
        self._herald = Herald()

    @property
    def herald(self) -> Herald:
        """Whose rule decides the audience of each event."""
        return self._herald

    def of_step(
        self, events: Sequence[AnyEvent], bodies: Sequence[Plain], asks: Iterable[OpenRequest]
    ) -> list[tuple[str, Entry]]:
        """Return (stream, entry) pairs for one step: a delivery per agent with anything new, and news for the table.

        Args:
            events: the step's events, in record order.
            bodies: the same as plain values.
            asks: requests to put to their agents.
        """
        news: list[Plain] = []
        parts: dict[SeatName, Plain] = {}
        for event, body in zip(events, bodies, strict=True):
            told = self._herald.tell(event)
            news.extend(
                {"n": public.n, "fact": body if public.fact is event else plain(public.fact)} for public in told.public
            )
            for seat, private in told.private:
                fact = body if private.fact is event else plain(private.fact)
                part = parts.setdefault(seat, {"seat": seat})
                part.setdefault("facts", []).append({"n": private.n, "after": private.after, "fact": fact})
        for request in asks:
            part = parts.setdefault(request.seat, {"seat": request.seat})
            part.setdefault("asks", []).append(request.ask())

        posts = [
            (streams.inbox(self._house, agent), self._entry("delivery", pack(delivery)))
            for agent, delivery in self._addressed(news, parts)
        ]
        table = streams.table(self._house, self._game)
        for item in news:
            packed = pack({"v": PROTOCOL, "type": "news", "game": self._game, **item})
            posts.append((table, self._entry("news", packed, item["n"], f"{item['n']}-0")))
        return posts

    def _addressed(self, news: list[Plain], parts: dict[SeatName, Plain]) -> Iterator[tuple[str, Plain]]:
        """Give every agent the public news, and its own seats' parts; nothing where there is nothing new."""
        for agent, seats in self._seats.items():
            own = [parts[seat] for seat in seats if seat in parts]
            if own or news:
                yield agent, {"v": PROTOCOL, "type": "delivery", "game": self._game, "facts": news, "seats": own}

    def _entry(self, kind: str, body: bytes, number: int = 0, entry_id: str = "") -> Entry:
        return Entry(body, kind, "moderator", self._game, number, entry_id)
