"""Table 1: deception and its reception by the speaker's role (paper 5.3)."""

from __future__ import annotations

from analytics import Result
from analytics.report.cells import counted, either, ends, interval, look, value
from analytics.report.context import Context
from analytics.report.links import Selection
from wolfbus.document.blocks import Cell, Row, Section, Table, columns

_UNJUDGED = "no statement of this row has a judgement that counts"


def section(findings: Result, context: Context) -> Section:
    """Return Table 1 in the paper's layout, with denominators beside it."""
    rows = tuple(_row(role, row, findings, context) for role, row in (findings.get("table1") or {}).items())
    names = ("Role", "Statements", "Self-deceptions", "Avg. suspicion", "Avg. flagged", "Labelled", "Share deceptive")
    notes = (
        (
            "Averages are over statements of the mean over the observers whose judgement counts; n is the "
            "number of such statements."
        ),
    )
    caption = "Table 1. Deception by role of the speaker, as the speakers label it, and how it is received"
    return Section(
        "table1",
        "Table 1: deception by role",
        (Table("table1-table", caption, columns(*names), rows, notes, context.contradictions("table1")),),
    )


def _row(role: str, row: Result, findings: Result, context: Context) -> Row:
    total = role == "overall"
    who = None if total else role
    suffix = "" if total else f"/{role}"
    rate = look(findings, "variability", "metrics", f"deception_rate{suffix}") or {}
    labelled = row["labelled"]
    share = row["deceptive"] / labelled if labelled else None
    published = context.paper("table1", role, "deceptive"), context.paper("table1", role, "statements")
    paper_share = published[0] / published[1] if published[0] is not None and published[1] else None
    cells = (
        counted(row["statements"], paper=published[1], link=None if total else Selection(role=who)),
        counted(row["deceptive"], paper=published[0], link=Selection(role=who, said="deceptive")),
        value(
            *(row["suspicion"], "share"),
            n=row["suspicion_n"],
            within=interval(findings, "table1", role, "suspicion"),
            paper=context.paper("table1", role, "suspicion"),
            link=Selection(role=who, judged="judged"),
            reason=_UNJUDGED,
        ),
        value(
            *(row["flagged"], "share"),
            n=row["flagged_n"],
            within=interval(findings, "table1", role, "flagged"),
            paper=context.paper("table1", role, "flagged"),
            link=Selection(role=who, judged="flagged"),
            reason=_UNJUDGED,
        ),
        counted(labelled),
        value(
            *(share, "share"),
            within=either(ends(rate), interval(findings, "table1", role, "deceptive_share")),
            paper=paper_share,
            link=Selection(role=who, said="deceptive"),
            reason="no such statement has a self-label that counts",
        ),
    )
    return Row(Cell("Overall" if total else role), cells, total=total)
