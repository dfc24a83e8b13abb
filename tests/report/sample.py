"""A report's material: games that were played by the rules, what is found in them, and the parts of what it writes."""

import json
from dataclasses import replace
from functools import cache
from typing import Any

from analytics.findings import findings as all_findings
from analytics.gather import GameRows, Gathered, fold
from analytics.report.report import ORDER, Report
from tests.analytics.script import gathered, held_by, named
from tests.game.driver import play
from wolfbus.files.document import Figure, Row, TableBlock

AGENTS = ("llm:big", "llm:small")


def games(n: int = 4, agents: tuple[str, ...] = AGENTS) -> list[GameRows]:
    """Games played by the rules, whose seats the agents share in turn."""
    return [_shared(_played(number), f"g{number}", agents) for number in range(n)]


@cache
def _played(number: int) -> GameRows:
    return fold(play(seed=f"report {number}").events, keep_text=True)


def _shared(rows: GameRows, game: str, agents: tuple[str, ...]) -> GameRows:
    brains = {name: agents[place % len(agents)] for place, name in enumerate(rows.seats)}
    rows = named(held_by(rows, brains), game)
    return replace(rows, replies={(agents[0], *key[1:]): count for key, count in rows.replies.items()})


def estimate(value: float | None = 0.5, half: float = 0.1) -> dict[str, Any]:
    """An estimate of 40 with an interval of its own, or one that is undefined."""
    if value is None:
        return {"value": None, "low": None, "high": None, "n": 0, "reason": "no game has it"}
    return {"value": value, "low": value - half, "high": value + half, "n": 40, "reason": None}


def findings(agents: tuple[str, ...] = AGENTS) -> dict[str, Any]:
    """What is found in six games that agents of these names played."""
    text = _findings_text()
    for name, agent in zip(AGENTS, agents, strict=True):
        text = text.replace(name, json.dumps(agent)[1:-1])
    renamed: dict[str, Any] = json.loads(text)
    return renamed


@cache
def _findings_text() -> str:
    return json.dumps(all_findings(gathered(games(6))), allow_nan=False)


def undefined(value: Any) -> Any:
    """The same findings with nothing in them: numbers become None or 0, as where nobody was judged."""
    if isinstance(value, dict):
        return {key: undefined(part) for key, part in value.items()}
    if isinstance(value, list):
        return []
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    return 0 if isinstance(value, int) else None


def sections(findings_: dict[str, Any], read: Gathered):
    """The sections of a report."""
    context = Report({}, read).context
    every = (section_(findings_, context) for section_ in ORDER)
    return {section.key: section for section in every if section.blocks}


def blocks(findings_: dict[str, Any], read: Gathered, kind: type) -> dict[str, Any]:
    """All tables, or all figures, of a report."""
    every = (block for section in sections(findings_, read).values() for block in section.blocks)
    return {block.key: block for block in every if isinstance(block, kind)}


def tables(findings_: dict[str, Any], read: Gathered) -> dict[str, TableBlock]:
    return blocks(findings_, read, TableBlock)


def line(table: TableBlock, head: str) -> tuple[Any, ...]:
    return next(row.cells for row in table.rows if isinstance(row, Row) and row.head.text == head)


def drawn(findings_: dict[str, Any]) -> dict[str, str]:
    """The drawings of a report, by key; "" where there is nothing to draw."""
    return {key: figure.draw() for key, figure in blocks(findings_, gathered([]), Figure).items()}
