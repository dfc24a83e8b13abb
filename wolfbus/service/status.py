"""What houses, games and agents there are on a Redis, read without touching anything, as far as the user may read."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Final, TypeAlias

from pydantic import TypeAdapter
from redis.exceptions import ResponseError

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry, every_entry
from wolfbus.bus.redis.connection import RedisLink, refusal
from wolfbus.bus.redis.pool import Links
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BusDown, BusError, MessageError, NotAllowed
from wolfbus.messages.base import HOUSE_PATTERN
from wolfbus.messages.codec import FROM_AGENT, unpack, validate
from wolfbus.messages.events import Asked
from wolfbus.messages.house import Join
from wolfbus.service.session import Session

COUNT_AT_MOST: Final = 1000
"""Entries of one stream that are counted at most; more are told as that many."""
GAMES_AT_MOST: Final = 50
"""Running games that are looked into at most, the newest."""
KEYS_AT_MOST: Final = 10_000
"""Keys of one house whose memory is asked for at most."""

_PAGE: Final = 1000
_BACK: Final = 60
_CLOCK_FROM_MS: Final = 1_500_000_000_000
_KEY: Final = re.compile(rf"wolf:\{{({HOUSE_PATTERN})\}}:(.+)", re.DOTALL)
_SAMPLES: Final = 5
_BATCH: Final = TypeAdapter(Asked)


@dataclass(frozen=True, slots=True)
class GameStatus:
    """A game under way.

    Attributes:
        game: its id.
        number: its place in the session, from 1.
        lines: lines of its record so far; None if that may not be read.
        round: the round of the latest question, None if unknown.
        phase: its phase, None if unknown.
    """

    game: str
    number: int
    lines: int | None = None
    round: int | None = None
    phase: str | None = None


@dataclass(frozen=True, slots=True)
class AgentStatus:
    """An agent, as it introduced itself last.

    Attributes:
        name: its name.
        service: "player" or "analytics"; None if no introduction is left to read.
        seats: how many it takes at a time.
        brain: what answers.
        started_s: seconds since its process began to write, by its own clock; None if unknown.
        knocked_s: seconds since it last knocked at the lobby, by the bus's clock; None if unknown.
        unread: messages in its mailbox that it had not dealt with when it last said so, `COUNT_AT_MOST` at most.
        unprocessed: messages of its own that the moderator could still have to read again, `COUNT_AT_MOST` at most.
    """

    name: str
    service: str | None = None
    seats: int | None = None
    brain: str | None = None
    started_s: float | None = None
    knocked_s: float | None = None
    unread: int | None = None
    unprocessed: int | None = None


@dataclass(slots=True)
class HouseStatus:
    """A house.

    Attributes:
        house: its name.
        holder: who moderates it, "" for nobody ever; None if that may not be read.
        epoch: under which epoch.
        left_s: seconds until the lease runs out, 0 if there is none.
        session: the latest session, "" for none.
        open: whether it runs.
        games: games begun in it.
        outcomes: how many were closed with each outcome.
        running: games under way, by number.
        agents: who takes part, by name.
        memory: bytes of the house's keys; None if that may not be read.
        keys: how many keys that are.
        agenda: whether a study's games are on an agenda of this name.
        unreadable: what could not be read, and why.
    """

    house: str
    holder: str | None = None
    epoch: int | None = None
    left_s: float = 0.0
    session: str = ""
    open: bool = False
    games: int = 0
    outcomes: dict[str, int] = field(default_factory=lambda: {"ended": 0, "stopped": 0, "failed": 0})
    running: list[GameStatus] = field(default_factory=list)
    agents: list[AgentStatus] = field(default_factory=list)
    memory: int | None = None
    keys: int = 0
    agenda: bool = False
    unreadable: dict[str, str] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether there is nothing of such a house, as far as can be seen."""
        return not (self.epoch or self.session or self.agents or self.keys or self.unreadable)


_Knock: TypeAlias = tuple[Join, int]
"""What somebody said at the lobby, and when, in ms of the bus's clock."""


class StatusReader:
    """Reads how things stand.

    Args:
        bus: a Redis.
        links: connections to the same Redis, for what a bus does not do.
    """

    def __init__(self, bus: Bus, links: Links) -> None:
        self._bus = bus
        self._links = links

    def read(self, only: str | None = None) -> list[HouseStatus]:
        """Return all houses, or one.

        Args:
            only: the house to read; None for all, which takes a user who may see all keys.

        Raises:
            NotAllowed: the user may not see what houses there are, and none was named.
            BusDown: the bus is away.
        """
        try:
            keys = self._keys(only)
        except NotAllowed:
            if only is None:
                raise NotAllowed("this Redis user may not see what houses there are; name one (--house)") from None
            keys = {only: []}
        return [self._house(house, keys.get(house, [])) for house in ([only] if only is not None else sorted(keys))]

    def _keys(self, only: str | None) -> dict[str, list[str]]:
        """Return the keys of every house."""
        pattern = streams.house_key("*" if only is None else only, "*")
        by_house: dict[str, list[str]] = {}
        pages = self._links.run_everywhere(lambda link: list(_scan(link, pattern)))
        for key in chain.from_iterable(pages):
            if match := _KEY.fullmatch(key):
                by_house.setdefault(match.group(1), []).append(key)
        return by_house

    def _house(self, house: str, keys: list[str]) -> HouseStatus:
        # of one that is over the study's key is left, to tell workers so
        parts = {streams.house_key(house, "agenda"), streams.house_key(house, "agenda:study")}
        status = HouseStatus(house, keys=len(keys), agenda=not parts.isdisjoint(keys))

        with _part(status, "owner"):
            owner = self._bus.owner(house)
            status.holder, status.epoch, status.left_s = owner.holder, owner.epoch, owner.left_s
        session = Session()
        with _part(status, "games"):
            session.catch_up(self._bus, house)
        status.session, status.open, status.games = session.name, session.running, session.games
        status.outcomes = dict[str, int](session.outcomes.items())
        games = [GameStatus(game, number) for game, number in session.under_way.items()]
        games.sort(key=lambda game: game.number)
        for place in range(len(games))[-GAMES_AT_MOST:]:
            with _part(status, "records"):
                games[place] = self._game(house, games[place])
        status.running = games
        cursors: dict[str, str] = {}
        with _part(status, "cursors"):
            cursors = self._bus.cursors(house)
        knocks: dict[str, _Knock] = {}
        with _part(status, "lobby"):
            knocks = self._knocks(house)
        for name in sorted(_agents(house, [*keys, *cursors]) | set(knocks)):
            cursor = cursors.get(streams.outbox(house, name), "0-0")
            agent = AgentStatus(name)
            with _part(status, "agents"):
                agent = self._agent(house, name, cursor, knocks.get(name))
            status.agents.append(agent)
        if keys:
            with _part(status, "memory"):
                status.memory = self._memory(keys)
        return status

    def _game(self, house: str, game: GameStatus) -> GameStatus:
        record = streams.record(house, game.game)
        lines = parse_id(self._bus.last_id(record))[0]
        for entry in reversed(self._bus.entries(record, f"{max(lines - _BACK, 0)}-0", _BACK)):
            if entry.type == "asked":
                batch = validate(_BATCH, unpack(entry.body), lenient=True)
                return replace(game, lines=lines, round=batch.round, phase=batch.phase)
        return replace(game, lines=lines)

    def _knocks(self, house: str) -> dict[str, _Knock]:
        """Return the last knock of everybody at the lobby."""
        knocks: dict[str, _Knock] = {}
        for entry in every_entry(self._bus, streams.lobby(house)):
            join = _join_of(entry)
            if join is not None:
                knocks[join.agent] = (join, parse_id(entry.id)[0])
        return knocks

    def _agent(self, house: str, name: str, cursor: str, knock: _Knock | None) -> AgentStatus:
        now = time.time() * 1000
        outbox, inbox = streams.outbox(house, name), streams.inbox(house, name)
        join, knocked = knock if knock is not None else (None, None)
        waiting = self._bus.entries(outbox, cursor, COUNT_AT_MOST)
        # what is behind the cursor may hold a newer introduction than the lobby, but not all of it can be read
        join = next(filter(None, map(_join_of, reversed(waiting))), join)
        began = parse_id(self._bus.last_id(outbox))[0]
        unread = None
        if join is not None and join.seen is not None:
            unread = min(len(self._bus.entries(inbox, _id_or_start(join.seen), COUNT_AT_MOST)), self._bus.length(inbox))
        introduction: dict[str, Any] = (
            join.model_dump(include={"service", "seats", "brain"}) if join is not None else {}
        )
        return AgentStatus(
            name,
            **introduction,
            started_s=max(now - began, 0.0) / 1000 if began > _CLOCK_FROM_MS else None,
            knocked_s=max(now - knocked, 0.0) / 1000 if knocked is not None else None,
            unread=unread,
            unprocessed=len(waiting),
        )

    def _memory(self, keys: list[str]) -> int:
        def work(link: RedisLink) -> int:
            sample = keys[:KEYS_AT_MOST]
            total = 0
            for reply in link.exchange([("MEMORY", "USAGE", key, "SAMPLES", _SAMPLES) for key in sample]):
                if isinstance(reply, ResponseError):
                    raise refusal(reply, "memory") from reply
                total += reply or 0
            return total * len(keys) // len(sample)

        return self._links.run(keys[0], work)


@contextlib.contextmanager
def _part(status: HouseStatus, name: str) -> Iterator[None]:
    """Read a part of it; one that may not be read is noted, and left as it is. Raises BusDown."""
    try:
        yield
    except BusDown:
        raise
    except (BusError, MessageError) as error:
        status.unreadable[name] = "not allowed" if isinstance(error, NotAllowed) else str(error)


def _scan(link: RedisLink, pattern: str) -> Iterator[str]:
    cursor, seen = b"0", set[bytes]()
    while True:
        cursor, keys = link.ask("SCAN", cursor, "MATCH", pattern, "COUNT", _PAGE, doing="looking for houses")
        # a key may come twice while others come and go
        yield from (key.decode(errors="replace") for key in dict.fromkeys(keys) if key not in seen)
        seen.update(keys)
        if cursor == b"0":
            return


def _agents(house: str, keys: list[str]) -> set[str]:
    beginning = streams.outbox(house, "")
    return {key.removeprefix(beginning) for key in keys if key.startswith(beginning)}


def _join_of(entry: Entry) -> Join | None:
    if entry.type != "join":
        return None
    try:
        message = validate(FROM_AGENT, unpack(entry.body))
    except MessageError:
        return None
    return message if isinstance(message, Join) and message.agent == entry.sender else None


def _id_or_start(text: str) -> str:
    """Return the id an agent has told; a stranger's may be none."""
    try:
        parse_id(text)
    except BusError:
        return "0-0"
    return text
