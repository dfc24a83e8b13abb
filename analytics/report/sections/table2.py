"""Table 2: who suspects whom at the end (paper 5.4), as a matrix and as a heat map."""

from __future__ import annotations

from functools import partial

from analytics import Result
from analytics.figures import suspicion_heatmap
from analytics.report.cells import estimate, interval, value
from analytics.report.context import Context
from analytics.report.drawings import drawing
from analytics.report.links import Selection
from analytics.report.verdicts import metric, over_all
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns
from wolfbus.vocabulary import ROLES


def section(findings: Result, context: Context) -> Section:
    """Return Table 2 and its heat map."""
    matrix = findings.get("table2") or {}
    rows = tuple(
        Row(Cell(observer), tuple(_cell(findings, observer, target, context) for target in ROLES))
        for observer in ROLES
        if observer in matrix
    )
    notes = (
        "Each cell is the mean over games of the game's mean final D over pairs of these roles; n is games.",
        (
            "The paper leaves the diagonal out; Villagers judge other Villagers and Werewolves other "
            "Werewolves all the same."
        ),
    )
    caption = "Table 2. Final smoothed suspicion D, by role of the observer (lines) and of the target (columns)"
    table = TableBlock("table2-table", caption, columns("Observer \\ target", *ROLES), rows, notes)
    heat = partial(suspicion_heatmap, findings)
    drawn = drawing("heatmap", heat, "Table 2 as a heat map.", matrix, table="table2-table")
    gap_rows = tuple(
        Row(Cell(label), (estimate(metric(findings, name), "points"), estimate(over_all(findings, name), "points")))
        for name, label in (
            ("suspicion_gap", "Smoothed, at the end"),
            ("raw_suspicion_gap", "As it was given"),
        )
        if metric(findings, name)
    )
    gap_table = TableBlock(
        "gap",
        "Does final suspicion separate Werewolves?",
        columns("Towards Werewolves minus towards the others", "Uninformed pairs", "All observers, as in the paper"),
        gap_rows,
        (
            (
                "Uninformed: what the observer knows does not entail whether the target is a Werewolf. Werewolves "
                "know, and a Seer of whom it inspected."
            ),
        ),
        empty="It was not computed.",
    )
    return Section("table2", "Table 2: who suspects whom", (table, drawn, gap_table))


def _cell(findings: Result, observer: str, target: str, context: Context) -> Cell:
    cell = findings["table2"][observer][target]
    return value(
        *(cell["mean"], "share"),
        n=cell["n"],
        within=interval(findings, "table2", observer, target),
        paper=context.paper("table2", observer, target),
        link=Selection(role=target, observer=observer, judged="judged"),
        reason="no game has such a pair with a judgement",
    )
