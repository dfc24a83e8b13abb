"""What lies did: games played on from one of their statements, as it was and with others in its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analytics import Result, look
from analytics.report.context import Context, estimate_cell, value_cell
from analytics.report.forked import OUTCOMES, sizes
from analytics.report.specs import Line, phrase, specs, table
from wolfbus.files.document import Block, Cell, Section, plain
from wolfbus.files.formats import percent

_AXES: Final = {"by_kind": "Kind of deception", "by_role": "Role", "by_agent": "Agent"}


def forks(findings: Result, context: Context) -> Section:
    """Return the effect of lies, by outcome; and by kind, role and agent. It is empty where no game is a fork."""
    data = findings.get("forks") or {}
    blocks: list[Block] = []
    if data.get("statements"):
        refused = look(data, "refused", "value")
        share = "an unknown share" if refused is None else percent(refused)
        blocks = [
            plain(phrase("forks/intro", **sizes(data), refused=share)),
            table("forks/effects", findings, context, lines=_effects(data)),
            table("forks/arms", findings, context),
            table("forks/by", findings, context, lines=_by(data, context)),
            plain(phrase("forks/limits")),
        ]
    return Section("forks", "What lies did: forks", tuple(blocks))


def _effects(data: Mapping[str, Any]) -> Iterator[Line]:
    for name, row in data["effects"].items():
        sentence = specs("forks").verdicts["any"][row["verdict"]].format(label=OUTCOMES[name])
        difference = estimate_cell(row["difference"], "points")
        cells = {"keep": value_cell(row["keep"], "share"), "honest": value_cell(row["honest"], "share")}
        yield Line(Cell(sentence), {**cells, "difference": difference, "p_adjusted": row["p_adjusted"]})


def _by(data: Mapping[str, Any], context: Context) -> Iterator[Line]:
    for axis, title in _AXES.items():
        for value, row in data[axis].items():
            yield _contrast(f"{title}: {context.name(value) if axis == 'by_agent' else value}", row)
    for arm, row in data["contrasts"].items():
        yield _contrast(f"All, against {arm}", row)


def _contrast(label: str, row: Mapping[str, Any]) -> Line:
    cells = {name: estimate_cell(row[name], "points") for name in OUTCOMES}
    return Line(Cell(label), {**cells, "n": max(row[name]["n"] for name in OUTCOMES)})
