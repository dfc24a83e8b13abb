"""What it took: model calls, tokens, money, time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analytics import Result
from analytics.report.cells import look, value
from analytics.report.context import Context, shorten_name
from wolfbus.document.blocks import Cell, Row, Section, Table, columns
from wolfbus.document.formats import count, listed, of

_SUMS: Final = {
    "calls": "Calls", "failed": "Failed", "prompt_tokens": "Prompt tokens", "cached_tokens": "Cached tokens",
    "completion_tokens": "Reply tokens",
}  # fmt: skip
_UNTOLD: Final = "no call tells it: no tokens were counted, or no price is configured"


def section(findings: Result, _: Context) -> Section:
    """Return calls by model, kind and agent, and what a game and a statement took."""
    cost = findings.get("cost") or {}
    called = bool(look(cost, "total", "calls"))
    rows = [
        Row(Cell(shorten_name(str(key), 60)), _sums(row))
        for split in ("model", "brain", "kind", "seat")
        for key, row in (cost.get(f"by_{split}") or {}).items()
    ]
    rows.append(Row(Cell("All"), _sums(cost.get("total") or {}), total=True))
    empty = "No model was called."
    heads = columns("Model, agent, kind", *_SUMS.values(), "Money", "Median latency", "95th percentile")
    by = Table(
        "cost-table",
        "Model calls by model, agent and kind of request" + (", and by seat" if cost.get("by_seat") else ""),
        heads,
        tuple(rows) if called else (),
        tuple(_lacking(cost.get("total") or {})),
        empty=empty,
    )
    per = tuple(
        Row(Cell(label), _per(look(cost, name) or {}))
        for name, label in (("per_game", "Per game"), ("per_statement", "Per statement"))
    )
    per_heads = columns(
        "", "Calls", "Prompt tokens", "Cached tokens", "Reply tokens", "Money", "Seconds", "Calls in a row"
    )
    notes = (
        (
            "Calls in a row: the longest chain of calls that had to wait for one another. Seconds are by the "
            "records' clock."
        ),
    )
    each = Table("cost-per", "What a game and a statement took", per_heads, per if called else (), notes, empty=empty)
    return Section("cost", "Cost", (by, each) if called else (by,))


def _lacking(total: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is not in the sums, and what they hold besides."""
    calls = total.get("calls") or 0
    missing = {"prompt_tokens": "prompt tokens", "completion_tokens": "reply tokens", "cost_usd": "a price"}
    lacking = [
        f"{count(lost)} lack {words}"
        for name, words in missing.items()
        if 0 < (lost := total.get(f"{name}_missing") or 0) < calls
    ]
    if lacking:
        yield f"Of {of(calls, 'call')}, {listed(lacking)}."
    if played := total.get("cassette"):
        yield (
            f"{count(played)} from a cassette, with the tokens that they once took; they cost nothing, and no times "
            "are told of them."
        )
    if (attempts := total.get("attempts") or 0) > calls:
        yield f"They took {of(attempts, 'attempt')}."


def _sums(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    return (
        *(value(row.get(name), "count", reason=_UNTOLD) for name in _SUMS),
        value(row.get("cost_usd"), "money", reason=_UNTOLD),
        value(look(row, "latency_s", "median"), "seconds", reason="no call reached the network"),
        value(look(row, "latency_s", "p95"), "seconds", reason="no call reached the network"),
    )


def _per(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    names = {"calls": "mean", "prompt_tokens": "count", "cached_tokens": "count", "completion_tokens": "count"}
    return (
        *(value(row.get(name), unit, reason=_UNTOLD) for name, unit in names.items()),
        value(row.get("cost_usd"), "money", reason=_UNTOLD),
        value(row.get("wall_s"), "seconds", reason="a game's record tells no times"),
        value(row.get("critical_path"), "mean", reason="no model was called"),
    )
