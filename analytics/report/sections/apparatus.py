"""How replies were read and what became of them, and what model calls took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analytics import Result
from analytics.report.context import Context, look, shorten_name
from analytics.report.specs import Line, table, told
from wolfbus.document.blocks import Cell, Section
from wolfbus.document.formats import count, listed, of

_COUNTED: Final = {"prompt_tokens": "prompt tokens", "completion_tokens": "reply tokens", "cost_usd": "a price"}


def repair(findings: Result, context: Context) -> Section:
    """Return replies by agent and by kind, and the scores with and without what was not clean."""
    faults = (look(findings, "repair", "overall", "faults") or {}).items()
    wrong = ", ".join(f"{fault} {count(number)}" for fault, number in faults if number)
    notes = [told("apparatus/wrong", faults=wrong)] if wrong else []
    by_brain = {brain: row["overall"] for brain, row in (look(findings, "repair", "by_brain") or {}).items()}
    return Section("repair", "Repair: how replies were read", (
        table("apparatus/repair-agents", findings, context, rows=by_brain, notes=notes),
        table("apparatus/repair-kinds", findings, context),
        table("apparatus/repair-scores", findings, context),
    ))  # fmt: skip


def cost(findings: Result, context: Context) -> Section:
    """Return calls by model, kind and agent, and what a game and a statement took."""
    found = findings.get("cost") or {}
    total = found.get("total") or {}
    lines = [
        Line(Cell(shorten_name(str(key), 60)), row)
        for split in ("model", "brain", "kind", "seat")
        for key, row in (found.get(f"by_{split}") or {}).items()
    ]
    lines.append(Line(Cell("All"), total, total=True))
    and_seat = ", and by seat" if found.get("by_seat") else ""
    called = lines if total.get("calls") else []
    by = table("apparatus/cost-table", findings, context, lines=called, notes=_lacking(total), and_seat=and_seat)
    return Section("cost", "Cost", (by, table("apparatus/cost-per", findings, context)) if called else (by,))


def _lacking(total: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is not in the sums, and what they hold besides."""
    calls = total.get("calls") or 0
    lacking = [
        f"{count(lost)} lack {words}"
        for name, words in _COUNTED.items()
        if 0 < (lost := total.get(f"{name}_missing") or 0) < calls
    ]
    if lacking:
        yield told("apparatus/lacking", calls=of(calls, "call"), parts=listed(lacking))
    if played := total.get("cassette"):
        yield told("apparatus/cassette", calls=count(played))
    if (attempts := total.get("attempts") or 0) > calls:
        yield told("apparatus/attempts", attempts=of(attempts, "attempt"))
