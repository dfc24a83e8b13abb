"""Table 5: how each kind of deception is received (paper 5.8)."""

from __future__ import annotations

from analytics import Result
from analytics.report.cells import counted, interval, value
from analytics.report.context import Context
from analytics.report.links import Selection
from wolfbus.document.blocks import Cell, Row, Section, Table, columns

_UNJUDGED = "no statement of this row has a judgement that counts"


def section(findings: Result, context: Context) -> Section:
    """Return Table 5 in the paper's layout."""
    rows = tuple(_row(kind, row, findings, context) for kind, row in (findings.get("table5") or {}).items())
    notes = (
        (
            "Averages are as in Table 1, n is the number of statements with a judgement that counts. "
            "“unspecified” is ours: called deceptive, without a kind."
        ),
    )
    caption = "Table 5. Statements by the kind of deception that the speaker admits, and how they are received"
    heads = columns("Kind", "Count", "Avg. suspicion", "Avg. flagged")
    return Section(
        "table5",
        "Table 5: kinds of deception",
        (Table("table5-table", caption, heads, rows, notes, context.contradictions("table5")),),
    )


def _row(kind: str, row: Result, findings: Result, context: Context) -> Row:
    total = kind == "overall"
    who = None if total else kind
    cells = (
        counted(row["count"], paper=context.paper("table5", kind, "count"), link=Selection(kind=who) if who else None),
        _average(row, kind, "suspicion", findings, context, Selection(kind=who, judged="judged")),
        _average(row, kind, "flagged", findings, context, Selection(kind=who, judged="flagged")),
    )  # fmt: skip
    return Row(Cell("Overall" if total else kind), cells, total=total)


def _average(row: Result, kind: str, name: str, findings: Result, context: Context, link: Selection) -> Cell:
    return value(
        *(row[name], "share"),
        n=row[f"{name}_n"],
        within=interval(findings, "table5", kind, name),
        paper=context.paper("table5", kind, name),
        link=link,
        reason=_UNJUDGED,
    )
