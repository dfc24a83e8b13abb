"""Asking and joining, as every part of the game does it; and what silence over several requests means for a seat."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias, TypeVar

from moderator.rules.table import Answers, BatchJoin, Table
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import Absent, AnyEvent, Asked, Asking, Returned, Statement

T = TypeVar("T")
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
    asked = [batch.batch for batch in batches if batch is not None]
    if not asked:
        return [{} for _ in batches]
    answers = dict(zip(asked, (yield BatchJoin(tuple(asked))), strict=True))
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
