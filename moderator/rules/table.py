"""The state of a game as its rules see it: who lives, who knows what, and the counters. Only the coroutine changes it,
by asking and joining as every part of the game does it.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

from wolfbus.config import GameConfig
from wolfbus.messages.base import SeatName, slim, unchecked
from wolfbus.messages.events import (
    Absent,
    AnyAnswered,
    AnyEvent,
    Asked,
    Asking,
    Dawn,
    Ended,
    Exile,
    Opened,
    Returned,
    Statement,
)
from wolfbus.roles import team_of
from wolfbus.vocabulary import Outcome, Phase, Role, Team

Answers = dict[SeatName, AnyAnswered]
"""What became of one batch, by seat, in seating order."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchJoin:
    """The coroutine waits until every request of these batches is closed; it is sent their answers, batch by batch."""

    batches: tuple[int, ...]


@dataclass(slots=True)
class Table:
    """Everything the rules need to remember.

    Attributes:
        config: the rules.
        seed: the game's seed.
        roles: role of every player, in seating order.
        living: players still in the game, in seating order.
        round: rounds begun.
        statements: statements made.
        batches: numbers of batches used up.
        inspected: per seer, what it learned.
        inspected_in: the round in which a seer inspected a player.
        protected: per doctor, the players it protected, by round.
        night_victims: who died at night, so was no wolf.
        exiled: who was exiled.
        revealed: teams or roles that became public.
        strikes: time-outs in a row, by seat.
        absent: seats that no batch waits long for.
    """

    config: GameConfig
    seed: str
    roles: dict[SeatName, Role]
    living: list[SeatName]
    round: int = 0
    statements: int = 0
    batches: int = 0
    inspected: dict[SeatName, dict[SeatName, Role]] = field(default_factory=dict)
    inspected_in: dict[tuple[SeatName, SeatName], int] = field(default_factory=dict)
    protected: dict[SeatName, dict[int, SeatName]] = field(default_factory=dict)
    night_victims: list[SeatName] = field(default_factory=list)
    exiled: list[SeatName] = field(default_factory=list)
    revealed: dict[SeatName, Role | Team] = field(default_factory=dict)
    strikes: dict[SeatName, int] = field(default_factory=dict)
    absent: set[SeatName] = field(default_factory=set)

    @classmethod
    def of(cls, opened: Opened) -> Table:
        """Return the table as it stands before the first night."""
        roles = {seat.name: seat.role for seat in opened.seats}
        return cls(config=opened.config, seed=opened.seed, roles=roles, living=list(roles))

    def alive(self, role: Role) -> list[SeatName]:
        """Return the living players with `role`, in seating order."""
        return [name for name in self.living if self.roles[name] == role]

    def others(self, name: SeatName) -> tuple[SeatName, ...]:
        """Return the living players but `name`."""
        return tuple(other for other in self.living if other != name)

    def remove(self, name: SeatName) -> None:
        """Take a player out of the game."""
        self.living.remove(name)
        if self.config.reveal_on_death == "role":
            self.revealed[name] = self.roles[name]
        elif self.config.reveal_on_death == "team":
            self.revealed[name] = team_of(self.roles[name])

    def batch(self, phase: Phase, turn: int, asks: list[Asking], about: int | None = None) -> Asked | None:
        """Return a new batch, None if there is nobody to ask: a seat without a legal answer gets no request.

        A number is used up either way: a seat sees the numbers of its own batches, and they must not tell who else
        was asked.
        """
        self.batches += 1
        answerable = tuple(ask for ask in asks if ask.seats and ask.legal != ())
        if not answerable:
            return None
        for asking in answerable:
            slim(asking)
        return unchecked(
            Asked,
            {
                "type": "asked",
                "batch": self.batches,
                "round": self.round,
                "phase": phase,
                "turn": turn,
                "about": about,
                "asks": answerable,
            },
        )

    def dawn(self, died: SeatName | None) -> Dawn:
        """Return the announcement of a night's outcome."""
        return Dawn(round=self.round, died=died, role=self._role_shown(died), team=self._team_shown(died))

    def exile(self, seat: SeatName | None) -> Exile:
        """Return the announcement of a vote's effect."""
        return Exile(round=self.round, seat=seat, role=self._role_shown(seat), team=self._team_shown(seat))

    def _role_shown(self, name: SeatName | None) -> Role | None:
        return self.roles[name] if name is not None and self.config.reveal_on_death == "role" else None

    def _team_shown(self, name: SeatName | None) -> Team | None:
        return team_of(self.roles[name]) if name is not None and self.config.reveal_on_death == "team" else None

    def verdict(self) -> Ended | None:
        """Return the end of the game if one side has won: no wolf lives, or they are as many as the others."""
        wolves = len(self.alive("Werewolf"))
        if wolves == 0:
            return Ended(winner="villagers", reason="no_wolves_left", rounds=self.round)
        if wolves >= len(self.living) - wolves:
            return Ended(winner="werewolves", reason="wolves_reach_parity", rounds=self.round)
        return None

    def count_strike(self, seat: SeatName, outcome: Outcome) -> bool | None:
        """Count time-outs in a row; returns True when the seat becomes absent now, False when it returns, else None.

        A declined request is no sign of life and no time-out: it changes nothing.
        """
        if outcome == "declined":
            return None
        if outcome != "timed_out":
            self.strikes[seat] = 0
            if seat in self.absent:
                self.absent.remove(seat)
                return False
            return None
        self.strikes[seat] = self.strikes.get(seat, 0) + 1
        if self.strikes[seat] >= self.config.strikes and seat not in self.absent:
            self.absent.add(seat)
            return True
        return None


Script: TypeAlias = Generator[AnyEvent | BatchJoin, Sequence[Answers], T]


def start(batch: Asked | None) -> Script[Asked | None]:
    """Send a batch out, if there is one, and go on without waiting for it."""
    if batch is not None:
        yield batch
    return batch


def join(table: Table, *batches: Asked | None) -> Script[list[Answers]]:
    """Wait for the batches; returns one mapping of seat to answer per argument, empty for None.

    Counts strikes: a seat that let several requests in a row time out becomes absent, and returns with its next answer.
    """
    numbers = [batch.batch for batch in batches if batch is not None]
    if not numbers:
        return [{} for _ in batches]
    answers = dict(zip(numbers, (yield BatchJoin(tuple(numbers))), strict=True))
    joined = [answers[batch.batch] if batch is not None else {} for batch in batches]
    for number in sorted(answers):
        for seat, answer in answers[number].items():
            changed = table.count_strike(seat, answer.outcome)
            if changed is not None:
                yield Absent(seat=seat) if changed else Returned(seat=seat)
    return joined


def assessments(table: Table, statement: Statement) -> Asked | None:
    """Return the batch in which the speaker labels its statement and everybody else alive judges it."""
    observers: tuple[SeatName, ...] = table.others(statement.speaker)
    return table.batch(
        statement.phase,
        statement.turn,
        [
            Asking(kind="assess_own", seats=(statement.speaker,)),
            Asking(kind="assess_other", seats=observers),
        ],
        about=statement.statement,
    )
