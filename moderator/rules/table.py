"""The state of a game as its rules see it: who lives, who knows what, and the counters. Only the coroutine changes it,
by asking and joining as every part of the game does it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from wolfbus.game.config import GameConfig
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import Outcome, Phase, Role, Team
from wolfbus.knowledge.departure import departure
from wolfbus.messages.base import SeatName, slim, unchecked
from wolfbus.messages.defaults import SILENT, lacks_reply, was_asked_for
from wolfbus.messages.events import (
    Absent,
    AnyAnswered,
    AnyEvent,
    Asked,
    Asking,
    Departing,
    Ended,
    Fork,
    Opened,
    Returned,
    Statement,
)

Answers = dict[SeatName, AnyAnswered]
"""What became of one batch, by seat, in seating order."""

T = TypeVar("T")
D = TypeVar("D", bound=Departing)


@dataclass(frozen=True, slots=True)
class BatchJoin:
    """The coroutine waits until every request of these batches is closed; it is sent their answers, batch by batch."""

    batches: tuple[int, ...]


@dataclass(slots=True)
class Table:
    """Everything the rules need to remember.

    Attributes:
        config: the rules.
        seed: what draws follow from now: the game's seed, and after a fork the fork's.
        fork: where the game parts from another; None where it does not.
        roles: role of every player, in seating order.
        living: players still in the game, in seating order.
        round: rounds begun.
        statements: statements made.
        batches: numbers of batches used up.
        inspected: per seer, what it learned.
        inspected_in: the round in which a seer inspected a player.
        protected: per doctor, the players it protected, by round.
        night_victims: who died at night, so was no wolf.
        revealed: teams or roles that became public.
        strikes: time-outs in a row, by seat; with the config's `strikes` of them a seat is absent.
        unassessed: statements to be asked about when the game is over, each with the others who lived.
        answers: answers that were asked for and not declined, by seat.
        unanswered: how many of them are defaults for want of a reply.
        silent: seats whose brain is silent by design.
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
    revealed: dict[SeatName, Role | Team] = field(default_factory=dict)
    strikes: dict[SeatName, int] = field(default_factory=dict)
    fork: Fork | None = None
    unassessed: list[tuple[Statement, tuple[SeatName, ...]]] = field(default_factory=list)
    answers: Counter[SeatName] = field(default_factory=Counter)
    unanswered: Counter[SeatName] = field(default_factory=Counter)
    silent: frozenset[SeatName] = frozenset()

    @classmethod
    def of(cls, opened: Opened) -> Table:
        """Return the table as it stands before the first night."""
        roles = {seat.name: seat.role for seat in opened.seats}
        silent = frozenset(seat.name for seat in opened.seats if seat.brain == SILENT)
        return cls(
            config=opened.config, seed=opened.seed, roles=roles, living=list(roles), fork=opened.fork, silent=silent
        )

    def alive(self, role: Role) -> list[SeatName]:
        """Return the living players with `role`, in seating order."""
        return [name for name in self.living if self.roles[name] == role]

    def others(self, name: SeatName) -> tuple[SeatName, ...]:
        """Return the living players but `name`."""
        return tuple(other for other in self.living if other != name)

    def leave(self, kind: type[D], seat: SeatName | None, **others: Any) -> D:
        """Take a player out of the game, and return the event that says so.

        Args:
            kind: the type of the event.
            seat: who leaves by it; None if nobody does.
            others: its fields beside `round`, who leaves and what is revealed.
        """
        fields: dict[str, Any] = {"round": self.round, kind.way.seat: seat, **others}
        if seat is not None and self.config.reveal_on_death == "role":
            fields["role"] = self.roles[seat]
        elif seat is not None and self.config.reveal_on_death == "team":
            fields["team"] = team_of(self.roles[seat])
        event = kind(**fields)
        if (departed := departure(event)) is not None:
            self.living.remove(departed.seat)
            if departed.how == "night":
                self.night_victims.append(departed.seat)
            if departed.revealed is not None:
                self.revealed[departed.seat] = departed.revealed
        return event

    def batch(
        self, phase: Phase, turn: int, asks: list[Asking], about: int | None = None, round_: int | None = None
    ) -> Asked | None:
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
                "round": self.round if round_ is None else round_,
                "phase": phase,
                "turn": turn,
                "about": about,
                "asks": answerable,
            },
        )

    def verdict(self) -> Ended | None:
        """Return the end of the game if one side has won: no wolf lives, or they are as many as the others."""
        wolves = len(self.alive("Werewolf"))
        if wolves == 0:
            return Ended(winner="villagers", reason="no_wolves_left", rounds=self.round)
        if wolves >= len(self.living) - wolves:
            return Ended(winner="werewolves", reason="wolves_reach_parity", rounds=self.round)
        return None

    def count_answer(self, answer: AnyAnswered) -> None:
        """Count an answer towards whether the game is spoilt."""
        if was_asked_for(answer):
            self.answers[answer.seat] += 1
            self.unanswered[answer.seat] += lacks_reply(answer)

    @property
    def spoilt(self) -> tuple[SeatName, ...]:
        """The seats, in seating order, of whose answers more are defaults for want of a reply than the rules allow."""
        bound = self.config.spoilt_above
        return tuple(
            seat
            for seat in self.roles
            if seat not in self.silent and self.unanswered[seat] > max(1, bound * self.answers[seat])
        )

    def count_strike(self, seat: SeatName, outcome: Outcome) -> bool | None:
        """Count time-outs in a row; returns True when the seat becomes absent now, False when it returns, else None.

        A declined request is no sign of life and no time-out: it changes nothing.
        """
        if outcome == "declined":
            return None
        before = self.strikes.get(seat, 0)
        now = self.strikes[seat] = before + 1 if outcome == "timed_out" else 0
        was_absent, is_absent = before >= self.config.strikes, now >= self.config.strikes
        return is_absent if is_absent != was_absent else None


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
    if table.fork is not None and table.fork.batch in answers:
        table.seed = table.fork.seed
    joined = [answers[batch.batch] if batch is not None else {} for batch in batches]
    for number in sorted(answers):
        for seat, answer in answers[number].items():
            table.count_answer(answer)
            changed = table.count_strike(seat, answer.outcome)
            if changed is not None:
                yield Absent(seat=seat) if changed else Returned(seat=seat)
    return joined


def assess(table: Table, statement: Statement) -> Script[Asked | None]:
    """Ask about a statement that was just made, unless that is to be done when the game is over, or never."""
    if table.config.assess == "after":
        table.unassessed.append((statement, table.others(statement.speaker)))
    if table.config.assess != "live":
        return None
    return (yield from start(_assessments(table, statement, table.others(statement.speaker))))


def assess_afterwards(table: Table) -> Script[None]:
    """Ask about the statements that are left for the end, one after the other, of those who lived when it was made."""
    for statement, observers in table.unassessed:
        batch = _assessments(table, statement, observers)
        yield from join(table, (yield from start(batch)))


def _assessments(table: Table, statement: Statement, observers: tuple[SeatName, ...]) -> Asked | None:
    """Return the batch in which the speaker labels its statement, unless it did with the words, and others judge it."""
    asks = [Asking(kind="assess_own", seats=(statement.speaker,)), Asking(kind="assess_other", seats=observers)]
    return table.batch(
        statement.phase,
        statement.turn,
        asks[1:] if table.config.label == "with" else asks,
        about=statement.statement,
        round_=statement.round,
    )
