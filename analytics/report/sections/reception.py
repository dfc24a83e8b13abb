"""Tables 1 and 5: how statements are received, by the speaker's role and by the kind of deception (paper 5.3, 5.8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from analytics import Result
from analytics.report.cells import counted, either, ends, interval, look, value
from analytics.report.context import Context
from analytics.report.links import Selection
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns

_UNJUDGED: Final = "no statement of this row has a judgement that counts"


def table1(findings: Result, context: Context) -> Section:
    """Return Table 1 in the paper's layout, with denominators beside it."""
    rows = tuple(_role(role, row, findings, context) for role, row in (findings.get("table1") or {}).items())
    heads = columns(
        *("Role", "Statements", "Self-deceptions", "Avg. suspicion", "Avg. flagged", "Labelled"), "Share deceptive"
    )
    note = (
        "Averages are over statements of the mean over the observers whose judgement counts; n is the number of such "
        "statements."
    )
    caption = "Table 1. Deception by role of the speaker, as the speakers label it, and how it is received"
    table = TableBlock("table1-table", caption, heads, rows, (note,))
    return Section("table1", "Table 1: deception by role", (table,))


def _role(role: str, row: Result, findings: Result, context: Context) -> Row:
    who = None if role == "overall" else role
    metric = "deception_rate" if who is None else f"deception_rate/{who}"
    rate = look(findings, "variability", "metrics", metric) or {}
    labelled = row["labelled"]
    deceptive, statements = (context.paper("table1", role, name) for name in ("deceptive", "statements"))
    cells = (
        counted(row["statements"], paper=statements, link=None if who is None else Selection(role=who)),
        counted(row["deceptive"], paper=deceptive, link=Selection(role=who, said="deceptive")),
        *_averages(("table1", role), Selection(role=who, judged="judged"), findings, context),
        counted(labelled),
        value(
            row["deceptive"] / labelled if labelled else None,
            within=either(ends(rate), interval(findings, "table1", role, "deceptive_share")),
            paper=deceptive / statements if deceptive is not None and statements else None,
            link=Selection(role=who, said="deceptive"),
            reason="no such statement has a self-label that counts",
        ),
    )
    return Row(Cell(who or "Overall"), cells, total=who is None)


def table5(findings: Result, context: Context) -> Section:
    """Return Table 5 in the paper's layout."""
    rows = tuple(_kind(kind, row, findings, context) for kind, row in (findings.get("table5") or {}).items())
    note = (
        "Averages are as in Table 1, n is the number of statements with a judgement that counts. “unspecified” is "
        "ours: called deceptive, without a kind."
    )
    caption = "Table 5. Statements by the kind of deception that the speaker admits, and how they are received"
    heads = columns("Kind", "Count", "Avg. suspicion", "Avg. flagged")
    table = TableBlock("table5-table", caption, heads, rows, (note,))
    return Section("table5", "Table 5: kinds of deception", (table,))


def _kind(kind: str, row: Result, findings: Result, context: Context) -> Row:
    who = None if kind == "overall" else kind
    cells = (
        counted(row["count"], paper=context.paper("table5", kind, "count"), link=Selection(kind=who) if who else None),
        *_averages(("table5", kind), Selection(kind=who, judged="judged"), findings, context),
    )
    return Row(Cell(who or "Overall"), cells, total=who is None)


def _averages(row: tuple[str, str], judged: Selection, findings: Result, context: Context) -> tuple[Cell, ...]:
    """Return the suspicion that the statements of a line met, and the share of judgements that flag them."""
    return (
        context.cell(findings, (*row, "suspicion"), link=judged, reason=_UNJUDGED),
        context.cell(findings, (*row, "flagged"), link=replace(judged, judged="flagged"), reason=_UNJUDGED),
    )
