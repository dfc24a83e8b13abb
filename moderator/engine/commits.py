"""`CommitBuilder`: numbers, times and seals one game's events, and makes of each step the commit that writes it;
`Deliveries`: what each agent receives of it, and what spectators see.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from moderator.engine.context import HouseContext, house_entry
from moderator.engine.referee import OpenRequest
from moderator.engine.seating import SeatPlayer
from wolfbus.bus import streams
from wolfbus.bus.protocol import Commit, Entry, Unpacked
from wolfbus.files.canonical import canonical_members
from wolfbus.knowledge.audience import AudienceFilter
from wolfbus.messages.base import PROTOCOL, SeatName, unchecked
from wolfbus.messages.codec import pack, plain
from wolfbus.messages.events import AnyEvent, Opened
from wolfbus.messages.house import Dropped, GameClosed, GameOpened
from wolfbus.messages.requests import Ask, Delivery, Private, Public, SeatPart
from wolfbus.record.line import Recorded, bus_members, seal

if TYPE_CHECKING:
    from moderator.engine.reexecution import GameSoFar

logger = logging.getLogger(__name__)

Sort: TypeAlias = Literal["delivery", "catch_up"]

BROKEN_OFF: Final = "the game was broken off and will not go on"
"""All that agents are told of why: what went wrong may have to do with what they must not know."""


class Deliveries:
    """Addresses one game's facts and questions to agents. Players who left go on hearing what is public.

    Args:
        house: house name, for stream names.
        opened: the game's opening event.
        audiences: decides the audience of each event, and knows what was told already.
        resumed: whether the game goes on from a record.
    """

    def __init__(self, house: str, opened: Opened, audiences: AudienceFilter, *, resumed: bool) -> None:
        self._house = house
        self._opened = opened
        self._game = opened.game
        self._seats: dict[str, list[SeatName]] = {}
        for seat in opened.seats:
            self._seats.setdefault(seat.agent, []).append(seat.name)
        self._audiences = audiences
        self._withheld: set[str] = set()
        # agents may know of steps that the bus has lost: what they are told next must be the whole truth
        self._not_caught_up = set(self._seats) if resumed else set()

    @property
    def agents(self) -> Sequence[str]:
        """All who have seats in the game."""
        return tuple(self._seats)

    def seats_of(self, agent: str) -> Sequence[SeatName]:
        """Return the seats that an agent plays, in seating order; none for one that is sent nothing."""
        return () if agent in self._withheld else self._seats.get(agent, ())

    def admit(self, player: SeatPlayer) -> bool:
        """Send an agent what is for its seats, or nothing if it is not what the record says of them.

        A record names what answers for each seat, and stands: so that it stays true, another brain is asked nothing.

        Args:
            player: what the agent is now; a catch-up tells one that plays on what it missed.

        Returns:
            Whether it plays on.
        """
        agent, was_withheld = player.agent, player.agent in self._withheld
        self._withheld.discard(agent)
        for seat in self._opened.seats:
            recorded = SeatPlayer(seat.agent, seat.brain, seat.declines, seat.in_house)
            if seat.agent != agent or recorded.is_like(player):
                continue
            self._withheld.add(agent)
            if not was_withheld:
                logger.warning(
                    "game %s: by its record seat %s is played by %s, but %s comes as %s; its seats stay silent until "
                    "it comes as recorded",
                    self._game,
                    seat.name,
                    recorded.description(),
                    agent,
                    player.description(),
                    extra={"game": self._game, "seat": seat.name, "agent": agent},
                )
            return False
        return True

    def of_step(self, events: Sequence[AnyEvent], asks: Iterable[OpenRequest]) -> list[tuple[str, Entry]]:
        """Return (stream, entry) pairs for one step: a delivery per agent with anything new, and news for the table.

        Args:
            events: the step's events, in record order.
            asks: requests to put to their agents.
        """
        news, facts = _facts(self._audiences, events)
        asks_by_seat = _by_seat(asks)
        posts = []
        for agent in self._seats:
            if agent in self._withheld:
                continue
            if agent in self._not_caught_up:
                if any(event.type == "ended" for event in events):
                    dropped = Dropped(game=self._game, reason="the game ended before you were caught up with it")
                    posts.append((streams.inbox(self._house, agent), house_entry(dropped)))
                continue
            parts = self._parts_of(agent, facts, asks_by_seat)
            if parts or news:
                posts.append(self._post(agent, "delivery", news, parts))
        table = streams.table(self._house, self._game)
        posts += [(table, self._entry("news", Unpacked(item, self._pack_news), item.n, f"{item.n}-0")) for item in news]
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
        news, facts = _facts(AudienceFilter(), events)
        asks_by_seat = _by_seat(chain.from_iterable(asks.values()))
        self._not_caught_up.difference_update(asks)
        agents = [agent for agent in asks if agent in self._seats]
        return [self._post(agent, "catch_up", news, self._parts_of(agent, facts, asks_by_seat)) for agent in agents]

    def _parts_of(
        self, agent: str, facts: Mapping[SeatName, list[Private]], asks: Mapping[SeatName, list[Ask]]
    ) -> tuple[SeatPart, ...]:
        return tuple(
            unchecked(SeatPart, {"seat": seat, "facts": tuple(facts.get(seat, ())), "asks": tuple(asks.get(seat, ()))})
            for seat in self._seats[agent]
            if seat in facts or seat in asks
        )

    def _post(self, agent: str, sort: Sort, news: tuple[Public, ...], parts: tuple[SeatPart, ...]) -> tuple[str, Entry]:
        """Give an agent the public news, and its own seats' parts."""
        mail = unchecked(Delivery, {"v": PROTOCOL, "type": sort, "game": self._game, "facts": news, "seats": parts})
        return streams.inbox(self._house, agent), self._entry(sort, Unpacked(mail, _pack_mail))

    def _pack_news(self, news: Public) -> bytes:
        return pack({"v": PROTOCOL, "type": "news", "game": self._game, "n": news.n, "fact": news.fact})

    def _entry(self, kind: str, body: Unpacked, number: int = 0, entry_id: str = "") -> Entry:
        return Entry(body, kind, "moderator", self._game, number, entry_id)


def _facts(
    audiences: AudienceFilter, events: Iterable[AnyEvent]
) -> tuple[tuple[Public, ...], dict[SeatName, list[Private]]]:
    """Return what events tell everybody, and what they tell single seats."""
    news: list[Public] = []
    facts: dict[SeatName, list[Private]] = {}
    for event in events:
        deliveries = audiences.feed(event)
        news += deliveries.public
        for seat, private in deliveries.private:
            facts.setdefault(seat, []).append(private)
    return tuple(news), facts


def _by_seat(asks: Iterable[OpenRequest]) -> dict[SeatName, list[Ask]]:
    by_seat: dict[SeatName, list[Ask]] = {}
    for request in asks:
        by_seat.setdefault(request.seat, []).append(request.ask())
    return by_seat


def _pack_recorded(recorded: Recorded) -> bytes:
    return pack(bus_members(recorded))


def _pack_mail(mail: Delivery) -> bytes:
    """Return a delivery's bytes; what a part is empty of is left out."""
    seats = []
    for part in mail.seats:
        value: dict[str, Any] = {"seat": part.seat}
        if part.facts:
            value["facts"] = [{"n": news.n, "after": news.after, "fact": news.fact} for news in part.facts]
        if part.asks:
            value["asks"] = [_plain_ask(ask) for ask in part.asks]
        seats.append(value)
    facts = [{"n": news.n, "fact": news.fact} for news in mail.facts]
    return pack({"v": PROTOCOL, "type": mail.type, "game": mail.game, "facts": facts, "seats": seats})


def _plain_ask(ask: Ask) -> dict[str, Any]:
    """Return a request's members in the order in which they are always sent."""
    value = plain(ask)
    for name in ("about", "legal"):
        if name in value:
            value[name] = value.pop(name)
    return value


class CommitBuilder:
    """Writes one game's record.

    Args:
        context: where the game is moderated.
        so_far: the game.
        number: the game's number in its session, for the news on the house's ``games`` stream; None for no news.

    Attributes:
        count: events written.
        head: hash of the last of them, "" before the first.
        digest: digest of them all.
        deliveries: who is told what.
    """

    def __init__(self, context: HouseContext, so_far: GameSoFar, number: int | None) -> None:
        self._house = context.name
        self._epoch = context.epoch
        self._game = so_far.opened.game
        self._number = number
        self._clock = context.clock
        self._began = self._clock() - so_far.seconds
        self._audiences = so_far.audiences
        self.count = so_far.count
        self.head = so_far.head
        self.digest = so_far.digest
        self.deliveries = Deliveries(self._house, so_far.opened, so_far.audiences, resumed=so_far.count > 0)

    @property
    def now(self) -> float:
        """Seconds of the record so far; they stand still while nobody moderates."""
        return self._clock() - self._began

    def step(
        self, events: Sequence[AnyEvent], requests: Iterable[OpenRequest]
    ) -> tuple[Commit, list[Recorded], list[bytes]]:
        """Write the events of one step.

        Args:
            events: in record order.
            requests: what is to be put to agents.

        Returns:
            The commit that makes it happen, the events as they are recorded, and the record's new lines.
        """
        expected = self.head
        now = round(self.now, 3)
        entries, sealed, lines = [], [], []
        for event in events:
            members = canonical_members(plain(event))
            self.digest.feed(event, members)
            self.count += 1
            unsealed = Recorded(self.count, now, self._audiences.audience(event), event)
            recorded, line = seal(self.head, unsealed, members)
            self.head = recorded.hash
            sealed.append(recorded)
            lines.append(line)
            content = Unpacked(recorded, _pack_recorded)
            entries.append(Entry(content, event.type, "moderator", self._game, self.count, f"{self.count}-0"))
        posts = self.deliveries.of_step(events, requests)
        if self._number is not None:
            posts.extend(self._news(events, self._number))
        return self._commit(expected, entries, posts), sealed, lines

    def posts_only(self, posts: Sequence[tuple[str, Entry]]) -> Commit:
        """Return a commit that writes nothing into the record; it lands only if the record ends where we think."""
        return self._commit(self.head, (), posts)

    def _news(self, events: Sequence[AnyEvent], number: int) -> Iterator[tuple[str, Entry]]:
        games, last = streams.games(self._house), events[-1]
        if events[0].type == "opened":
            yield games, house_entry(GameOpened(game=self._game, number=number), self._game)
        if last.type == "ended" or last.type == "stopped":
            reason = last.reason[:300] if last.type == "stopped" else ""
            closed = GameClosed(
                game=self._game, number=number, outcome=last.type, lines=self.count, hash=self.head, reason=reason
            )
            yield games, house_entry(closed, self._game)
        if last.type == "stopped":
            dropped = house_entry(Dropped(game=self._game, reason=BROKEN_OFF))
            for agent in self.deliveries.agents:
                yield streams.inbox(self._house, agent), dropped

    def _commit(self, expected: str, record: Sequence[Entry], posts: Sequence[tuple[str, Entry]]) -> Commit:
        return Commit(
            house=self._house,
            game=self._game,
            epoch=self._epoch,
            expected=expected,
            head=self.head,
            record=record,
            posts=posts,
        )
