"""`Roster`: which agents are in the house, what they can take, and who is not let in. Pure bookkeeping: no bus, and no
clock of its own. `Tickets`: the list of those who may come, on the bus.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast, get_args

from moderator.engine.seating import Offer, SeatPlayer
from wolfbus.bus import streams
from wolfbus.bus.url import is_in_process, read_address
from wolfbus.errors import BusError
from wolfbus.files.printable import with_article
from wolfbus.game.vocabulary import Kind
from wolfbus.messages.house import Join
from wolfbus.tickets.holders import Service, services

if TYPE_CHECKING:
    from wolfbus.bus.redis.connection import RedisLink

AGENTS_AT_MOST: Final = 1000
"""Agents that a house takes; each costs its moderator a stream to read."""

UNREAD_AT_MOST: Final = 1000
"""An agent with more unread messages than this gets no new games until it has caught up."""

OUTSIDE: Final = "outside:"
"""How the brain of an outside agent begins."""

AWAY_AFTER: Final = 3
"""Times the heartbeat that an agent may be silent before it counts as away."""

PATIENCE_S: Final = 3.0
"""How long one reading of the list tries to reach the server."""

Arrival: TypeAlias = Literal["new", "again"]


@dataclass(slots=True)
class RosterEntry:
    """An agent of the house.

    Attributes:
        join: what it said last of itself.
        heard_at: when, in seconds of the moderator's clock.
        left: whether it said that it leaves.
        failure: why it cannot play, if it left for that; "" for none.
        unread: messages in its mailbox that it has not dealt with, as last counted.
    """

    join: Join
    heard_at: float
    left: bool = False
    failure: str = ""
    unread: int = 0


@dataclass(slots=True)
class Roster:
    """Who is here.

    Args:
        seats: seats of a game.
        again_s: how often agents say `join`, in seconds.
        tickets: names that may come in, and what for; None for any, each as what it says it is.
    """

    seats: int
    again_s: float
    tickets: Mapping[str, Service] | None = None
    members: dict[str, RosterEntry] = field(default_factory=dict)
    _playing: dict[str, Counter[str]] = field(default_factory=dict)
    _seated: Counter[str] = field(default_factory=Counter)

    def refusal(self, agent: str, join: Join, now: float) -> str | None:
        """Return why a `join` that stood on `agent`'s stream is refused; None if it is not."""
        if join.agent != agent:
            return f"this is the stream of {agent}; {join.agent} cannot join on it"
        if not self.may_come(agent):
            return "this house is open to holders of a ticket only"
        if not self.may_serve_as(agent, join.service):
            holder = "an analytics service, which plays no seats" if join.service == "player" else "an agent"
            return f"the ticket of {agent} is for {holder}; it cannot join as {with_article(join.service)} service"
        member = self.members.get(agent)
        if member is None:
            if len(self.members) >= AGENTS_AT_MOST:
                return f"the house is full: it takes {AGENTS_AT_MOST} agents"
        elif member.join.service != join.service and not self.may_be_dropped(agent, now):
            known_as, comes_as = with_article(member.join.service), with_article(join.service)
            return f"{agent} is known here as {known_as} service, not {comes_as} service"
        if join.places and min(join.places) > self.seats:
            places = " and ".join(map(str, join.places))
            return f"it asks for seat {places}, but games here have {self.seats} seats"
        return None

    def may_come(self, agent: str) -> bool:
        """Return whether an agent of this name may join at all."""
        return self.tickets is None or agent in self.tickets

    def may_serve_as(self, agent: str, service: str) -> bool:
        """Return whether an agent that may join may do so as this service."""
        return self.tickets is None or (self.tickets.get(agent) == "analytics") == (service == "analytics")

    def record_join(self, join: Join, now: float) -> Arrival:
        """Record a `join` that was not refused; tells whether it is a new start of its agent.

        Who says otherwise than before who answers counts as new too.
        """
        member = self.members.get(join.agent)
        if member is None or (member.join.instance, _identity(member.join)) != (join.instance, _identity(join)):
            self.members[join.agent] = RosterEntry(join, now)
            return "new"
        member.join, member.heard_at, member.left = join, now, False
        return "again"

    def leave(self, agent: str, instance: str, failure: str = "") -> bool:
        """Record that this start of an agent leaves; False if it is not the one that is known.

        Args:
            agent: its name.
            instance: which start of it.
            failure: why it cannot play, if it leaves for that. Of an outside agent it does not count: others would wait
                for it, or not, by its word.
        """
        member = self.members.get(agent)
        if member is None or member.join.instance != instance:
            return False
        member.left = True
        member.failure = failure if self.is_in_house(member.join) else ""
        return True

    def failures(self) -> dict[str, str]:
        """Return why agents cannot play that came and left for it, by name; a new start of one clears its own."""
        return {agent: member.failure for agent, member in sorted(self.members.items()) if member.failure}

    def forget_failures(self) -> None:
        """Forget them: a game was begun without those agents."""
        for member in self.members.values():
            member.failure = ""

    def count_unread(self, agent: str, number: int) -> None:
        """Record how many messages wait in an agent's mailbox."""
        if agent in self.members:
            self.members[agent].unread = number

    def is_present(self, agent: str, now: float) -> bool:
        """Return whether an agent is here: it has joined, not left, was heard of lately, and
        may still come.
        """
        member = self.members.get(agent)
        is_here = member is not None and not member.left and now - member.heard_at <= AWAY_AFTER * self.again_s
        return is_here and self.may_come(agent) and self.may_serve_as(agent, self.members[agent].join.service)

    def present(self, now: float, service: Literal["player", "analytics"]) -> tuple[str, ...]:
        """Return the names of all who are here to do this, sorted."""
        return tuple(
            agent
            for agent in sorted(self.members)
            if self.members[agent].join.service == service and self.is_present(agent, now)
        )

    def seat(self, game: str, agents: Iterable[str]) -> None:
        """Record who plays a game: an agent for every seat."""
        self.unseat(game)
        self._playing[game] = Counter(agents)
        self._seated.update(self._playing[game])

    def unseat(self, game: str) -> None:
        """Free the seats of a game that is over."""
        for agent, seats in self._playing.pop(game, Counter[str]()).items():
            self._seated[agent] -= seats
            if not self._seated[agent]:
                del self._seated[agent]

    def seats_played(self, agent: str) -> int:
        """Return how many seats of games under way an agent has."""
        return self._seated[agent]

    def absent(self, now: float) -> dict[str, int]:
        """Return how many seats of games under way agents have who are not here."""
        return {agent: seats for agent, seats in sorted(self._seated.items()) if not self.is_present(agent, now)}

    def offers(self, now: float) -> dict[str, Offer]:
        """Return what those who are here can take in the next game; who can take nothing is left out."""
        offers: dict[str, Offer] = {}
        for agent in self.present(now, "player"):
            member = self.members[agent]
            free = member.join.seats - self.seats_played(agent)
            if free > 0 and member.unread <= UNREAD_AT_MOST:
                offers[agent] = Offer(free, member.join.places)
        return offers

    def lagging(self, now: float) -> tuple[str, ...]:
        """Return the names of those here who get no new games because they do not read their mailbox."""
        return tuple(agent for agent in self.present(now, "player") if self.members[agent].unread > UNREAD_AT_MOST)

    def player(self, agent: str) -> SeatPlayer:
        """Return an agent as the one who plays a seat."""
        join = self.members[agent].join
        in_house = self.is_in_house(join)
        return SeatPlayer(agent, self.brain(join), join.declines, in_house, join.model if in_house else None)

    def brain(self, join: Join) -> str:
        """Return as what an agent gets seats, and stands in records and tables.

        Where tickets say who is who, what an agent announces counts only if it is the operator's
        own: anybody else is ``outside:NAME`` by its ticket. Without them it is the agent's word.
        """
        is_trusted = self.tickets is None or self.tickets.get(join.agent) == "player"
        return join.brain if is_trusted else f"{OUTSIDE}{join.agent}"

    def is_in_house(self, join: Join) -> bool:
        """Return whether the operator runs this agent: by its ticket, or by its own word where there are none."""
        return join.in_house and (self.tickets is None or self.tickets.get(join.agent) == "player")

    def drop_absent(self, now: float) -> None:
        """Forget those who are away and play nothing, where room is scarce."""
        if len(self.members) >= AGENTS_AT_MOST:
            for agent in [name for name in self.members if self.may_be_dropped(name, now)]:
                del self.members[agent]

    def may_be_dropped(self, agent: str, now: float) -> bool:
        """Return whether an agent is away and plays nothing."""
        return not self.is_present(agent, now) and not self.seats_played(agent)


def _identity(join: Join) -> tuple[str, frozenset[Kind], bool]:
    return join.brain, frozenset(join.declines), join.in_house


class Tickets:
    """The list of those who may join a house.

    Args:
        url: the bus's address; a Redis, for no other bus has users.
        house: the house's name.

    Raises:
        ConfigError: the address cannot be understood.
    """

    def __init__(self, url: str, house: str) -> None:
        # Redis is loaded by houses that ask for tickets only
        from wolfbus.bus.redis.pool import Links

        self._url = url
        self._house = house
        self._links = Links(read_address(url))

    def read(self) -> Mapping[str, Service]:
        """Return who is on the list, and what for: name to service; raises BusError.

        A name of which the operator has not said what it is for is an agent's: that may do least.
        """
        key = streams.tickets(self._house)
        doing = f"tickets of house {self._house}"

        def ask(link: RedisLink) -> tuple[list[str], list[str]]:
            # in this order: what a ticket is for is written before its name is listed
            listed = link.ask("SMEMBERS", key, doing=doing)
            served = link.ask("HGETALL", services(self._house), doing=doing)
            return _texts(listed), _texts(served)

        names, pairs = self._links.run(key, ask, PATIENCE_S)
        service_of = dict(zip(pairs[::2], pairs[1::2], strict=True))
        return {name: _service(service_of.get(name)) for name in sorted(names)}

    def revoke_all(self) -> int:
        """Take all tickets back and end the connections of their holders; returns how many there were.

        Raises:
            NotAllowed: the moderator's own ticket does not include this right.
            BusError: the server refuses something else.
        """
        from wolfbus.tickets.issuing import revoke

        return revoke(self._url, self._house, self.read()).users

    def close(self) -> None:
        """Disconnect."""
        self._links.close()


def count_tickets(url: str, house: str) -> int:
    """Return how many tickets a house has, as far as may be asked; none on a bus that has no users."""
    if is_in_process(url):
        return 0
    try:
        with contextlib.closing(Tickets(url, house)) as tickets:
            return len(tickets.read())
    except BusError:
        return 0


def _texts(reply: list[bytes]) -> list[str]:
    return [word.decode(errors="replace") for word in reply]


def _service(word: str | None) -> Service:
    return cast("Service", word) if word in get_args(Service) else "agent"
