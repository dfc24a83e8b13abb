"""From a step's events to what each agent receives, and to what spectators see."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from moderator.engine.referee import OpenRequest
from moderator.engine.seating import Taker
from wolfbus.audience import Herald
from wolfbus.bus import streams
from wolfbus.bus.protocol import Entry, Unpacked
from wolfbus.messages.base import PROTOCOL, SeatName
from wolfbus.messages.codec import encode, pack
from wolfbus.messages.events import AnyEvent, Opened
from wolfbus.messages.house import Dropped

logger = logging.getLogger(__name__)

Plain: TypeAlias = dict[str, Any]
"""A message as plain values in which facts stand as they are. What we build here is a `Delivery`, and every receiver
checks that it is."""


class Deliveries:
    """Addresses one game's facts and questions to agents. Players who left go on hearing what is public.

    Args:
        house: house name, for stream names.
        opened: the game's opening event.
        herald: what was told already, where the game goes on from a record.
    """

    def __init__(self, house: str, opened: Opened, herald: Herald | None = None) -> None:
        self._house = house
        self._game = opened.game
        self._seats: dict[str, list[SeatName]] = {}
        for seat in opened.seats:
            self._seats.setdefault(seat.agent, []).append(seat.name)
        self._herald = herald or Herald()
        self._withheld: set[str] = set()
        # agents may know of steps that the bus has lost: what they are told next must be the whole truth
        self._behind = set(self._seats) if herald is not None else set()

    @property
    def agents(self) -> Sequence[str]:
        """All who have seats in the game."""
        return tuple(self._seats)

    def withhold(self, agent: str) -> None:
        """Send an agent nothing of the game any more."""
        self._withheld.add(agent)

    def restore(self, agent: str) -> None:
        """Take back `withhold`; a catch-up then tells the agent what it missed."""
        self._withheld.discard(agent)

    def is_withheld(self, agent: str) -> bool:
        """Return whether an agent is sent nothing."""
        return agent in self._withheld

    @property
    def herald(self) -> Herald:
        """Whose rule decides the audience of each event."""
        return self._herald

    def seats_of(self, agent: str) -> Sequence[SeatName]:
        """Return the seats that an agent plays, in seating order."""
        return self._seats.get(agent, ())

    def of_step(self, events: Sequence[AnyEvent], asks: Iterable[OpenRequest]) -> list[tuple[str, Entry]]:
        """Return (stream, entry) pairs for one step: a delivery per agent with anything new, and news for the table.

        Args:
            events: the step's events, in record order.
            asks: requests to put to their agents.
        """
        news, parts = _facts(self._herald, events)
        _add_asks(parts, asks)
        posts = []
        for agent in self._seats:
            if agent in self._withheld:
                continue
            if agent in self._behind:
                if any(event.type == "ended" for event in events):
                    dropped = Dropped(game=self._game, reason="the game ended before you were caught up with it")
                    entry = Entry(encode(dropped), dropped.type, "moderator")
                    posts.append((streams.inbox(self._house, agent), entry))
                continue
            own = self._own(agent, parts)
            if own or news:
                posts.append(self._post(agent, "delivery", news, own))
        table = streams.table(self._house, self._game)
        for item in news:
            public = Unpacked({"v": PROTOCOL, "type": "news", "game": self._game, **item}, pack)
            posts.append((table, self._entry("news", public, item["n"], f"{item['n']}-0")))
        return posts

    def of_catch_up(
        self, events: Iterable[AnyEvent], asks: Mapping[str, Sequence[OpenRequest]]
    ) -> list[tuple[str, Entry]]:
        """Return (stream, entry) pairs that tell agents all that their seats may know.

        In a game that goes on from a record, an agent is told nothing before its first catch-up.

        Args:
            events: the game's events so far, in record order.
            asks: for each agent to be told, the open requests to its seats.
        """
        news, parts = _facts(Herald(), events)
        for requests in asks.values():
            _add_asks(parts, requests)
        self._behind.difference_update(asks)
        return [self._post(agent, "catch_up", news, self._own(agent, parts)) for agent in asks if agent in self._seats]

    def _own(self, agent: str, parts: Mapping[SeatName, Plain]) -> list[Plain]:
        return [parts[seat] for seat in self._seats[agent] if seat in parts]

    def _post(self, agent: str, sort: str, news: Sequence[Plain], own: Sequence[Plain]) -> tuple[str, Entry]:
        """Give an agent the public news, and its own seats' parts."""
        delivery = {"v": PROTOCOL, "type": sort, "game": self._game, "facts": tuple(news), "seats": tuple(own)}
        return streams.inbox(self._house, agent), self._entry(sort, Unpacked(delivery, pack))

    def _entry(self, kind: str, body: Unpacked, number: int = 0, entry_id: str = "") -> Entry:
        return Entry(body, kind, "moderator", self._game, number, entry_id)


def _facts(herald: Herald, events: Iterable[AnyEvent]) -> tuple[list[Plain], dict[SeatName, Plain]]:
    """Return what events tell everybody, and what they tell single seats."""
    news: list[Plain] = []
    parts: dict[SeatName, Plain] = {}
    for event in events:
        told = herald.tell(event)
        for public in told.public:
            news.append({"n": public.n, "fact": public.fact})
        for seat, private in told.private:
            fact = {"n": private.n, "after": private.after, "fact": private.fact}
            part = parts.get(seat)
            if part is None:
                parts[seat] = {"seat": seat, "facts": (fact,)}
            else:
                part["facts"] = (*part["facts"], fact)
    return news, parts


def _add_asks(parts: dict[SeatName, Plain], asks: Iterable[OpenRequest]) -> None:
    for request in asks:
        part = parts.setdefault(request.seat, {"seat": request.seat})
        part["asks"] = (*part.get("asks", ()), request.ask())


def admit(opened: Opened, offered: Taker, deliveries: Deliveries) -> bool:
    """Send an agent what is for its seats, or nothing if it is not what the record says of them.

    A record names what answers for each seat, and stands: so that it stays true, another brain is asked nothing.

    Args:
        opened: the game's opening event.
        offered: what the agent is now.
        deliveries: the game's.

    Returns:
        Whether it plays on.
    """
    known = deliveries.is_withheld(offered.agent)
    deliveries.restore(offered.agent)
    for seat in opened.seats:
        recorded = Taker(seat.agent, seat.brain, seat.declines, seat.in_house)
        if seat.agent == offered.agent and not recorded.is_like(offered):
            deliveries.withhold(offered.agent)
            if not known:
                logger.warning(
                    "game %s: by its record seat %s is played by %s, but %s comes as %s; its seats stay silent until "
                    "it comes as recorded",
                    opened.game,
                    seat.name,
                    recorded.shown(),
                    offered.agent,
                    offered.shown(),
                    extra={"game": opened.game, "seat": seat.name, "agent": offered.agent},
                )
            return False
    return True
