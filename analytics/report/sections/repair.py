"""The repair report: how replies were read, what became of them, and what that changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from analytics import Result
from analytics.report.cells import counted, ends, look, value
from analytics.report.context import Context
from wolfbus.document.blocks import Cell, Row, Section, Table, columns
from wolfbus.document.formats import count

_HOW: Final = ("clean", "extracted", "repaired", "coerced", "reasked", "defaulted", "timed_out", "declined")
_KINDS: Final = {
    "bid": "Bids", "speak": "Statements", "assess_own": "Self-labels", "assess_other": "Judgements", "vote": "Votes",
    "kill": "Kills", "protect": "Protections", "inspect": "Inspections", "whisper": "Whispers",
}  # fmt: skip


def section(findings: Result, context: Context) -> Section:
    """Return replies by agent and by kind, and the scores with and without what was not clean."""
    repair = findings.get("repair") or {}
    rows = [
        Row(context.agent_cell(brain), _counts(row["overall"])) for brain, row in (repair.get("by_brain") or {}).items()
    ]
    if repair.get("overall"):
        rows.append(Row(Cell("All"), _counts(repair["overall"]), total=True))
    kinds = tuple(
        Row(Cell(_KINDS.get(kind, kind)), _counts(row)) for kind, row in (repair.get("by_kind") or {}).items()
    )
    faults = (look(repair, "overall", "faults") or {}).items()
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
    by_agent = Table(
        "repair-agents",
        "Replies by agent, by how they were read and what became of them",
        columns("Agent", *heads),
        tuple(rows),
        notes,
        empty="There are no replies.",
    )
    by_kind = Table(
        "repair-kinds", "The same by kind of reply", columns("Kind", *heads), kinds, empty="There are no replies."
    )
    return Section("repair", "Repair: how replies were read", (by_agent, by_kind, _scores(findings)))


def _counts(row: Mapping[str, Any]) -> tuple[Cell, ...]:
    lost = value(row.get("lost_share"), reason="every reply was declined")
    return (counted(row.get("replies")), *(counted(row.get(name)) for name in _HOW), lost)


def _scores(findings: Result) -> Table:
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
    return Table(
        "repair-scores", "Detection with and without what was not clean", heads, rows, empty="It was not computed."
    )
