"""How replies were read and what became of them, and what model calls took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from analytics import Result
from analytics.report.context import Context, counted, ends, look, shorten_name, value
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns
from wolfbus.document.formats import count, listed, of

_HOW: Final = ("clean", "extracted", "repaired", "coerced", "reasked", "defaulted", "timed_out", "declined")
_KINDS: Final = {
    "bid": "Bids", "speak": "Statements", "assess_own": "Self-labels", "assess_other": "Judgements", "vote": "Votes",
    "kill": "Kills", "protect": "Protections", "inspect": "Inspections", "whisper": "Whispers",
}  # fmt: skip


def repair(findings: Result, context: Context) -> Section:
    """Return replies by agent and by kind, and the scores with and without what was not clean."""
    found = findings.get("repair") or {}
    rows = [
        Row(context.agent_cell(brain), _counts(row["overall"])) for brain, row in (found.get("by_brain") or {}).items()
    ]
    if found.get("overall"):
        rows.append(Row(Cell("All"), _counts(found["overall"]), total=True))
    kinds = tuple(Row(Cell(_KINDS.get(kind, kind)), _counts(row)) for kind, row in (found.get("by_kind") or {}).items())
    faults = (look(found, "overall", "faults") or {}).items()
    wrong = ", ".join(f"{fault} {count(number)}" for fault, number in faults if number)
    notes = (
        (
            "Clean: as it stood. Extracted: JSON taken out of prose. Repaired: broken JSON mended. Coerced: "
            "a value brought into its range. "
            "Reasked: the model was asked again. Defaulted: no usable answer. Timed out: too late. Declined: "
            "its agent does not answer this kind."
        ),
        "Lost: defaulted and timed out, of those not declined.",
        *([f"What was wrong with those without an answer: {wrong}."] if wrong else []),
    )
    heads = ("Replies", *(name.replace("_", " ").capitalize() for name in _HOW), "Lost")
    by_agent = TableBlock(
        "repair-agents",
        "Replies by agent, by how they were read and what became of them",
        columns("Agent", *heads),
        tuple(rows),
        notes,
        empty="There are no replies.",
    )
    by_kind = TableBlock(
        "repair-kinds", "The same by kind of reply", columns("Kind", *heads), kinds, empty="There are no replies."
    )
    return Section("repair", "Repair: how replies were read", (by_agent, by_kind, _scores(findings)))


def _counts(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    lost = value(row.get("lost_share"), reason="every reply was declined")
    return (counted(row.get("replies")), *(counted(row.get(name)) for name in _HOW), lost)


def _scores(findings: Result) -> TableBlock:
    names = {
        "accuracy": "share",
        "balanced_accuracy": "share",
        "base_rate": "share",
        "constant_accuracy": "share",
        "auc": "score",
    }
    rows = tuple(
        Row(
            Cell(label),
            (
                counted(row.get("n")),
                *(
                    value(
                        *(row.get(name), unit),
                        within=ends(look(findings, "variability", "metrics", name) if key == "all" else None),
                        reason="deceptive and truthful statements, judged, are needed",
                    )
                    for name, unit in names.items()
                ),
            ),
        )
        for key, label in (("all", "All judgements"), ("clean", "Only what was clean, label and judgement"))
        for row in (look(findings, "headline", key) or {},)
        if row
    )
    heads = columns("", "Judgements", "Accuracy", "Balanced accuracy", "Base rate", "Constant guess", "AUC")
    return TableBlock(
        "repair-scores", "Detection with and without what was not clean", heads, rows, empty="It was not computed."
    )


_SUMS: Final = {
    "calls": "Calls", "failed": "Failed", "prompt_tokens": "Prompt tokens", "cached_tokens": "Cached tokens",
    "completion_tokens": "Reply tokens",
}  # fmt: skip
_UNTOLD: Final = "no call tells it: no tokens were counted, or no price is configured"


def cost(findings: Result, _: Context) -> Section:
    """Return calls by model, kind and agent, and what a game and a statement took."""
    found = findings.get("cost") or {}
    called = bool(look(found, "total", "calls"))
    rows = [
        Row(Cell(shorten_name(str(key), 60)), _sums(row))
        for split in ("model", "brain", "kind", "seat")
        for key, row in (found.get(f"by_{split}") or {}).items()
    ]
    rows.append(Row(Cell("All"), _sums(found.get("total") or {}), total=True))
    empty = "No model was called."
    heads = columns("Model, agent, kind", *_SUMS.values(), "Money", "Median latency", "95th percentile")
    by = TableBlock(
        "cost-table",
        "Model calls by model, agent and kind of request" + (", and by seat" if found.get("by_seat") else ""),
        heads,
        tuple(rows) if called else (),
        tuple(_lacking(found.get("total") or {})),
        empty=empty,
    )
    per = tuple(
        Row(Cell(label), _per(look(found, name) or {}))
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
    each = TableBlock(
        "cost-per", "What a game and a statement took", per_heads, per if called else (), notes, empty=empty
    )
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
