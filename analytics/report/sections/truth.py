"""What is objectively true: lies told, lies admitted, and detection against truth beside the self-label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, get_args

from analytics import Result, look
from analytics.report.context import Context
from analytics.report.specs import Line, table, told
from wolfbus.document.blocks import Cell, Section, TableBlock, plain
from wolfbus.document.formats import of, percent
from wolfbus.vocabulary import Verdict

_SOURCES: Final = {
    "given": "attached, and heard in the words",
    "unheard": "attached only",
    "extracted": "found in the words",
}
_GROUNDS: Final = {
    "against_role": "speaker a werewolf",
    "against_truth": "statement a lie",
    "against_label": "self-label deceptive",
}


def truth(findings: Result, context: Context) -> Section:
    """Return truth by role and agent, and detection against it."""
    detection = look(findings, "truth", "detection") or {}
    lines = [
        Line(Cell(f"{role}: {words}"), row[ground], {"path": f"by_observer.{role}.{ground}"})
        for role, row in (detection.get("by_observer") or {}).items()
        for ground, words in _GROUNDS.items()
        if look(row, ground)
    ]
    mistakes, notes = detection.get("mistakes") or {}, []
    if mistakes.get("flagged") is not None:
        flagged = percent(mistakes["flagged"])
        notes.append(told("truth/mistakes", judgements=of(mistakes["n"], "judgement"), flagged=flagged))
    return Section("truth", "Truth: lies told, admitted, detected", (
        plain(told("truth/intro")),
        table("truth/truth", findings, context, by="role"),
        table("truth/truth", findings, context, by="agent"),
        table("truth/truth-detection", findings, context, more=lines, notes=notes),
        _claims(findings, context),
    ))  # fmt: skip


def _claims(findings: Result, context: Context) -> TableBlock:
    """Return how many claims of each kind were attached by speakers and found in their words, and their verdicts."""
    return table("truth/claims", findings, context, lines=_of_kinds(look(findings, "claims", "by_kind") or {}))


def _of_kinds(kinds: Mapping[str, Any]) -> Iterator[Line]:
    rows = {
        f"{kind.capitalize()}, {words}": look(row, source) or {}
        for kind, row in kinds.items()
        for source, words in _SOURCES.items()
    }
    yield from (Line(Cell(head), row) for head, row in rows.items())
    if rows:
        sums = {name: sum(row.get(name) or 0 for row in rows.values()) for name in ("n", *get_args(Verdict))}
        yield Line(Cell("All"), sums, total=True)
