"""A report's material: games that were played by the rules, and what is found in them."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

from analytics.columns import ColumnsBuilder
from analytics.findings import findings as all_findings
from analytics.fold import fold
from analytics.gather import FileNote, Gathered, StudySource
from analytics.measures.ledger import Ledger
from analytics.report.context import Context, Indexed
from analytics.report.report import Report
from analytics.rows import GameRows
from tests.analytics.script import held_by
from tests.game.driver import play

AGENTS = ("llm:big", "llm:small")


def games(n: int = 4, agents: tuple[str, ...] = AGENTS) -> list[GameRows]:
    """Games played by the rules, whose seats the agents share in turn."""
    return [_shared(_played(number), f"g{number}", agents) for number in range(n)]


@cache
def _played(number: int) -> GameRows:
    return fold(play(seed=f"report {number}").events, keep_text=True)


def _shared(rows: GameRows, game: str, agents: tuple[str, ...]) -> GameRows:
    brains = {name: agents[place % len(agents)] for place, name in enumerate(rows.seats)}
    rows = held_by(rows, brains)
    return replace(
        rows,
        game=game,
        statements=tuple(replace(row, game=game) for row in rows.statements),
        judgements=tuple(replace(row, game=game) for row in rows.judgements),
        replies={(agents[0], *key[1:]): count for key, count in rows.replies.items()},
    )


def gathered(
    found: list[GameRows], problems: tuple[FileNote, ...] = (), studies: tuple[StudySource, ...] = ()
) -> Gathered:
    ledger, builder = Ledger(), ColumnsBuilder()
    for rows in found:
        ledger.add(rows)
        builder.add(rows)
    notes = tuple(FileNote(f"{rows.game}.ndjson", rows.game, 9, True, None) for rows in found)
    return Gathered(builder.columns(), ledger, (*notes, *problems), studies)


def estimate(value: float | None = 0.5, half: float = 0.1) -> dict[str, Any]:
    """An estimate of 40 with an interval of its own, or one that is undefined."""
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "reason": "no game has it"}
    return {"value": value, "low": value - half, "high": value + half, "n": 40, "reason": None}


def findings(agents: tuple[str, ...] = AGENTS) -> dict[str, Any]:
    """What is found in six games that agents of these names played."""
    told = _found()
    for name, agent in zip(AGENTS, agents, strict=True):
        told = told.replace(name, json.dumps(agent)[1:-1])
    found: dict[str, Any] = json.loads(told)
    return found


@cache
def _found() -> str:
    return json.dumps(all_findings(gathered(games(6))), allow_nan=False)


def undefined(value: Any) -> Any:
    """The same findings with nothing in them: numbers become None or 0, as where nobody was judged."""
    if isinstance(value, dict):
        return {key: undefined(each) for key, each in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return 0 if isinstance(value, int) else None


def context(found: Gathered) -> Context:
    return replace(Report({}, found).context, indexed=Indexed(1, 1, 10, 10))
