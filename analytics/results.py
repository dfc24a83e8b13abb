"""`Results`: the one long table of results, a row a metric, group and observers, which everything that shows numbers
selects from.

A group is written as ``axis:value`` pairs with spaces between them, ``role:Seer target:Werewolf``; ``all`` is the group
of everything. Values that are anybody's words, as names of agents are, come last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from typing import Annotated, Any, Final, Literal, TypeAlias

from analytics import Result
from analytics.rows.fields import Column
from wolfbus.game.roles import roles_among
from wolfbus.game.vocabulary import Role

Observers: TypeAlias = Literal["uninformed", "all", "none"]
"""Whose judgements, votes or suspicion count: of those who have to find out whether the target is a Werewolf; of all,
as in the paper; or of nobody, where nobody observes anybody."""

UNINFORMED: Final[Observers] = "uninformed"
EVERYBODY: Final[Observers] = "all"
NOBODY: Final[Observers] = "none"
PAIRS: Final[tuple[Observers, ...]] = (UNINFORMED, EVERYBODY)

Group: TypeAlias = Mapping[str, Any]
"""Whose figure it is: values by axis; empty for everything."""

ALL: Final = "all"
_NEXT_AXIS: Final = re.compile(r" (?=\w+:)")
_ANY_WORDS: Final = frozenset({"agent", "process", "name", "speaking", "annotator", "between"})
"""Axes whose values may hold anything; a group has one of them at most."""


def group_text(group: Group) -> str:
    """Return a group as it stands in the table."""
    ordered = sorted(group, key=lambda axis: (axis in _ANY_WORDS, axis))
    return " ".join(f"{axis}:{group[axis]}" for axis in ordered) or ALL


def group_of(text: str) -> dict[str, str]:
    """Return the group that a text of the table tells, its values as words."""
    group: dict[str, str] = {}
    rest = "" if text == ALL else text
    while rest:
        axis, _, rest = rest.partition(":")
        if axis in _ANY_WORDS:
            group[axis], rest = rest, ""
        else:
            # a role of another table may be two words
            group[axis], *more = _NEXT_AXIS.split(rest, 1)
            rest = "".join(more)
    return group


_NO_INTERVAL: Final = "there is none; `reason` says why, unless such a figure never has one"


@dataclass(frozen=True, slots=True)
class ResultRow:
    """One figure over all games."""

    metric: Annotated[str, Column("a metric of `wolfbus compare`, or another figure of the report", category=True)]
    group: Annotated[
        str,
        Column(
            "whose: `all`; `role:Seer`, of what one role did; `agent:NAME`, of what one agent did or how it was seen; "
            "`target:Werewolf`, of how one role was seen; several with spaces between them",
            category=True,
        ),
    ]
    observers: Annotated[
        Observers,
        Column(
            "over pairs whose observer does not know whether the target is a Werewolf; over all, as in the paper; or "
            "`none` where it is not over pairs"
        ),
    ]
    value: Annotated[float | None, Column("the figure over all games, in the metric's unit", "it is undefined")]
    low: Annotated[float | None, Column("lower end of its 95 % interval", _NO_INTERVAL)] = None
    high: Annotated[float | None, Column("upper end of its 95 % interval", _NO_INTERVAL)] = None
    n: Annotated[
        int | None,
        Column(
            "what it is over: statements, judgements, pairs, votes, games",
            "it is itself a count, a round, a threshold or a p",
        ),
    ] = None
    baseline: Annotated[
        float | None,
        Column("what needs no skill", "there is none, or the appendix alone tells it, as of slopes and biases"),
    ] = None
    reason: Annotated[
        str | None, Column("why it is undefined, or has no interval", "it is defined, and nothing is missing")
    ] = None
    undefined_draws: Annotated[int, Column("draws of the games in which it is undefined")] = 0

    def estimate(self) -> Result:
        """Return value, interval, n, and why either is missing."""
        missing = self.value is None
        estimate = {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "reason": self.reason if missing else None,
        }
        return estimate if missing or self.reason is None else {**estimate, "interval_reason": self.reason}

    def with_baseline(self) -> Result:
        """Return the same beside what it is held against."""
        return {**self.estimate(), "baseline": self.baseline}

    @property
    def ends(self) -> list[float] | None:
        """The ends of its interval; None where there is none."""
        return None if self.low is None or self.high is None else [self.low, self.high]


def defined(value: Any) -> float | None:
    """Return a number as it stands, and NaN as None."""
    return None if value is None or isnan(value) else float(value)


class Results:
    """The rows, in order, and each by what it is.

    Args:
        rows: no two of the same metric, group and observers.
    """

    def __init__(self, rows: Iterable[ResultRow] = ()) -> None:
        self._rows = list(rows)
        self._place = {(row.metric, row.group, row.observers): row for row in self._rows}

    def __iter__(self) -> Iterator[ResultRow]:
        return iter(self._rows)

    def row(self, metric: str, observers: Observers = NOBODY, /, **group: Any) -> ResultRow:
        """Return the row of a metric, of observers and of a group; of what was not computed one that says so."""
        text = group_text(group)
        row = self._place.get((metric, text, observers))
        return row or ResultRow(metric, text, observers, None, n=0, reason="it was not computed")

    def value(self, metric: str, observers: Observers = NOBODY, /, **group: Any) -> float | None:
        """Return a value, None if it is undefined or was not computed."""
        return self.row(metric, observers, **group).value

    def count(self, metric: str, observers: Observers = NOBODY, /, **group: Any) -> int:
        """Return a count, 0 if it was not computed."""
        return round(self.row(metric, observers, **group).value or 0)

    def groups(self, axis: str, metric: str, observers: Observers = NOBODY) -> list[str]:
        """Return the values on an axis of the groups of a metric that are told apart by it alone, in their order."""
        texts = (row.group for row in self._rows if row.metric == metric and row.observers == observers)
        groups = (group_of(text) for text in texts if text.startswith(f"{axis}:"))
        return [group[axis] for group in groups if len(group) == 1]

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The roles that tables tell apart: all of ours, and those of other tables that somebody here has."""
        return roles_among({group_of(row.group)["role"] for row in self._rows if row.metric == "seats"})
