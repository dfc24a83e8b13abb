"""Whole games whose seats are all played by outside agents of one seat each, and every byte that each of them receives.

The agents' answers depend on their seat and on the question, never on the role: what differs between two games that
differ only in who is what is then what the rules and the machinery make of it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgpack

from moderator.house import GameOver, Games
from tests.moderator.process import HOUSE, Process
from wolfbus.bus import Bus, Entry, streams
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import Kind, Role
from wolfbus.messages.codec import decode_mail, pack, plain
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Opened, Seat
from wolfbus.messages.house import Welcome
from wolfbus.messages.requests import Ask, Delivery

NAMES = ("Ada", "Bruno", "Chloe", "Dario", "Esther", "Felix", "Greta", "Hugo")
PATIENCE_S = 60.0

Roles = tuple[Role, ...]
Mischief = Callable[["Outside", str, Ask], list[Entry]]
"""What else an agent writes on its own stream when its seat is asked something; ids are added."""


@dataclass(frozen=True)
class Plan:
    """What agents do, whoever they are.

    Attributes:
        victims: whom Werewolves go for, night by night; they answer illegally where none is planned.
        exiles: for whom everybody votes, day by day.
        sights: whom a Seer looks at, in this order.
        declines: what the agent of the last seat does not answer.
        names: the players, in seating order.
    """

    victims: tuple[str, ...] = ()
    exiles: tuple[str, ...] = ()
    sights: tuple[str, ...] = NAMES
    declines: tuple[Kind, ...] = ()
    names: tuple[str, ...] = NAMES

    def answer(self, seat: str, ask: Ask) -> Content:
        """Return the answer of a seat; it may be illegal."""
        place = self.names.index(seat)
        if ask.kind == "bid":
            return Bid(bid=(place * 7 + ask.round * 3 + ask.turn * 5) % 11)
        if ask.kind == "speak":
            return Speech(text=f"I, {seat}, wonder about {self.names[(place + ask.turn) % 8]}.")
        deceptive = (place + ask.round + ask.turn) % 3 == 0
        if ask.kind == "assess_own":
            return Label(deceptive=deceptive, confidence=0.5, kind="omission" if deceptive else "none")
        if ask.kind == "assess_other":
            kind = "distortion" if deceptive else "none"
            return Judgement(deceptive=deceptive, suspicion=place / 8, confidence=0.5, kind=kind)
        legal = ask.legal or ()
        if ask.kind == "vote":
            target = self.exiles[ask.round - 1] if ask.round <= len(self.exiles) else None
            return Ballot(target=target if target in legal else None, reason="So be it." if place % 4 == 0 else None)
        if ask.kind == "inspect":
            return Choice(target=next((name for name in self.sights if name in legal), legal[0]))
        if ask.kind == "protect":
            return Choice(target=self.names[0])
        target = self.victims[ask.round - 1] if ask.round <= len(self.victims) else "nobody at all"
        return Proposal(target=target, word="quickly") if ask.kind == "whisper" else Choice(target=target)

    def beside(self, _seat: str, _ask: Ask) -> dict[str, object]:
        """Return what a seat's reply has beside its content."""
        return {}


@dataclass
class Mailbox:
    """What one agent received, in order.

    Attributes:
        seat: the seat it plays.
        entries: every message, as it stood in its mailbox.
        ended: how many of them came before the one that tells of the end.
    """

    seat: str
    entries: list[Entry] = field(default_factory=list)
    ended: int | None = None

    def before_the_end(self) -> list[Entry]:
        return self.entries[: self.ended]

    def deliveries(self) -> list[Delivery]:
        return [decode_mail(entry.body) for entry in self.before_the_end() if entry.type != "welcome"]

    def bytes(self) -> list[bytes]:
        """Return all that can be seen of each message, its id and clear fields included."""
        return [
            b"|".join((entry.id.encode(), *(word.encode() for word in clear(entry)), entry.body))
            for entry in self.before_the_end()
        ]


def is_end(entry: Entry) -> bool:
    """Tell whether a delivery tells of the end."""
    return any(public.fact.type == "ended" for public in decode_mail(entry.body).facts)


def clear(entry: Entry) -> tuple[str, str, str, str]:
    return entry.type, entry.sender, entry.game, str(entry.number)


@dataclass
class Outside:
    """One game and its eight agents."""

    opened: Opened
    plan: Plan
    catch_up: bool = False
    mischief: Mischief | None = None
    mailboxes: dict[str, Mailbox] = field(default_factory=dict)
    caught_up: set[tuple[str, str]] = field(default_factory=set)
    over: GameOver | None = None
    record: list[dict[str, Any]] = field(default_factory=list)
    news: list[Entry] = field(default_factory=list)

    @property
    def roles(self) -> dict[str, Role]:
        return {seat.name: seat.role for seat in self.opened.seats}


def opening(game: str, roles: Roles, seed: str, config: GameConfig, plan: Plan, in_house: Sequence[str] = ()) -> Opened:
    seats = tuple(
        Seat(
            name=name,
            role=role,
            agent=f"{game}-{name}",
            brain="outside",
            in_house=name in in_house,
            declines=plan.declines if name == plan.names[-1] else (),
        )
        for name, role in zip(plan.names, roles, strict=True)
    )
    return Opened(game=game, version="0", started=1.5, seed=seed, config=config, seats=seats)


def play(tables: Sequence[Outside], bus_url: str = "memory://") -> None:
    """Play games on a real bus, by the real moderator, all at once; the tables then hold all that was received."""
    process = Process(bus_url)
    with contextlib.closing(process):
        bus, house = process.bus.bus, process.house
        agents = {seat.agent: (table, seat.name) for table in tables for seat in table.opened.seats}
        reader = bus.reader()
        for agent, (table, seat) in agents.items():
            table.mailboxes[seat] = Mailbox(seat)
            reader.follow(streams.inbox(HOUSE, agent))
            house.listen(agent)
        house.tell([(agent, Welcome(house=HOUSE, agent="you", instance="i", again_s=5.0)) for agent in agents])
        for table in tables:
            house.open(table.opened, None, process.overs.put)
        _answer_all(bus, house, reader.read, agents)
        overs = {over.game: over for over in (process.over() for _ in tables)}
        for table in tables:
            table.over = overs[table.opened.game]
            assert table.over.error is None, table.over.error
            record = bus.entries(streams.record(HOUSE, table.opened.game), limit=100_000)
            table.record = [msgpack.unpackb(entry.body, use_list=False) for entry in record]
            table.news = bus.entries(streams.table(HOUSE, table.opened.game), limit=100_000)


Read = Callable[[float], list[tuple[str, list[Entry]]]]


def _answer_all(bus: Bus, house: Games, read: Read, agents: dict[str, tuple[Outside, str]]) -> None:
    """Be all the agents until every one of them has heard of its game's end."""
    by_stream = {streams.inbox(HOUSE, agent): agent for agent in agents}
    numbers = dict.fromkeys(agents, 0)
    playing = set(agents)
    until = time.monotonic() + PATIENCE_S
    while playing:
        assert time.monotonic() < until, f"{len(playing)} agents never heard of the end"
        for stream, entries in read(1.0):
            agent = by_stream[stream]
            table, seat = agents[agent]
            replies = []
            for entry in entries:
                if (asks := _receive(table, table.mailboxes[seat], entry)) is None:
                    playing.discard(agent)
                    continue
                for ask in asks:
                    if table.mischief is not None and (seat, ask.id) not in table.caught_up:
                        for extra in table.mischief(table, seat, ask):
                            numbers[agent] += 1
                            replies.append(extra._replace(id=f"1-{numbers[agent]}"))
                    if table.catch_up and ask.kind == "vote" and (seat, ask.id) not in table.caught_up:
                        # everybody's vote is waited for, so nothing but the catch-up can come before this reply
                        table.caught_up.add((seat, ask.id))
                        house.catch_up(agent)
                        continue
                    numbers[agent] += 1
                    body = reply(table, seat, ask)
                    replies.append(Entry(body, "reply", agent, table.opened.game, id=f"1-{numbers[agent]}"))
            if replies:
                bus.append(streams.outbox(HOUSE, agent), replies)


def _receive(table: Outside, mailbox: Mailbox, entry: Entry) -> list[Ask] | None:
    """Take in a message and return what it asks; None if the game is over."""
    mailbox.entries.append(entry)
    if entry.type == "welcome":
        return []
    delivery = decode_mail(entry.body)
    assert all(part.seat == mailbox.seat for part in delivery.seats)
    if is_end(entry):
        mailbox.ended = len(mailbox.entries) - 1
        return None
    return [ask for part in delivery.seats for ask in part.asks]


def reply(table: Outside, seat: str, ask: Ask, **fields: object) -> bytes:
    """Return a seat's answer as it travels, with `fields` in place of its own."""
    usual = {"v": 1, "type": "reply", "game": table.opened.game, "request": ask.id, "seat": seat, "kind": ask.kind}
    content = {"content": plain(table.plan.answer(seat, ask))}
    return pack(usual | content | table.plan.beside(seat, ask) | fields)
