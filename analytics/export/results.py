"""`RESULTS`: the headline metrics of an export's games as a table: what was found, with intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from analytics.columns import Columns
from analytics.rows.fields import Column

_UNDEFINED = "it is undefined"
_NO_INTERVAL = "there is none, as below five blocks of games"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """One figure over all games of an export."""

    metric: Annotated[str, Column("the metric, by the name that docs/metrics.md gives it", category=True)]
    group: Annotated[
        str,
        Column(
            "whose: `all`; `role:Seer`, of observers of a role, for `deception_rate` of speakers; `agent:NAME`, of "
            "what one agent did or how it was seen",
            category=True,
        ),
    ]
    observers: Annotated[
        Literal["uninformed", "all", "none"],
        Column(
            "over pairs whose observer does not know whether the target is a Werewolf; over all, as in the paper; or "
            "`none` where it is not over pairs"
        ),
    ]
    value: Annotated[float | None, Column("the pooled estimate, in the metric's unit", _UNDEFINED)]
    low: Annotated[float | None, Column("lower end of its 95 % interval", _NO_INTERVAL)]
    high: Annotated[float | None, Column("upper end of its 95 % interval", _NO_INTERVAL)]
    n: Annotated[int, Column("what it is over: statements, judgements, pairs, votes, games")]
    unit: Annotated[
        str,
        Column("`share` and `probability` from 0 to 1, `points` a difference of shares, `score`", category=True),
    ]
    baseline: Annotated[float | None, Column("what needs no skill", "there is no such thing")]


def results_of(columns: Columns) -> Iterator[ResultRow]:
    """Yield the figures of the sections ``variability`` and ``agents`` of findings."""
    from analytics.measures.agents import agents
    from analytics.measures.study import Study, variability

    study = Study(columns)
    for name, found in variability(study)["metrics"].items():
        metric, _, role = name.partition("/")
        group = f"role:{role}" if role else "all"
        everybody = found.get("all_observers")
        yield _row(metric, group, "uninformed" if everybody else "none", found)
        if everybody:
            yield _row(metric, group, "all", everybody)
    for agent, row in agents(study).items():
        flat = {**row, **{f"{side}_won": estimate for side, estimate in row["wins"].items()}}
        for metric, found in flat.items():
            if isinstance(found, dict) and "value" in found:
                own = metric in _OF_SEATS
                yield _row(metric, f"agent:{agent}", "none" if own else "uninformed", found)


_OF_SEATS = frozenset({"deception_rate", "villagers_won", "werewolves_won"})


def _row(metric: str, group: str, observers: Any, found: Mapping[str, Any]) -> ResultRow:
    return ResultRow(
        metric=metric,
        group=group,
        observers=observers,
        value=found["value"],
        low=found.get("low"),
        high=found.get("high"),
        n=found["n"],
        unit=found.get("unit") or "share",
        baseline=found.get("baseline"),
    )
