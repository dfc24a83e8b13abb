"""Tables 1, 2, 3 and 5 of the paper (5.3, 5.4, 5.5, 5.8), with the baselines and the intervals that they need."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Final

from analytics import Result
from analytics.figures.bars import confusion
from analytics.figures.heatmap import suspicion_heatmap
from analytics.report.caveats import metric, over_all
from analytics.report.context import Context, Selection, counted, drawing, either, ends, estimate, interval, look, value
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns, note
from wolfbus.vocabulary import ROLES

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


def table2(findings: Result, context: Context) -> Section:
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


_COUNTS: Final = ("tp", "tn", "fp", "fn")
_RATES: Final = {
    "accuracy": "no judged statement has a self-label that counts",
    "precision": "nothing was flagged",
    "recall": "no judged statement is labelled deceptive",
    "f1": "precision or recall is undefined",
}
_BOTH: Final = "deceptive and truthful statements are needed"


def table3(findings: Result, context: Context) -> Section:
    """Return Table 3 in the paper's layout, then its baselines, and the counts as a figure."""
    table = findings.get("table3") or {}
    heads = ("Role", "TP", "TN", "FP", "FN", "Accuracy", "Precision", "Recall", "F1")
    caption = "Table 3. Flags against self-labels, by role of the observer"
    rows = tuple(_row(role, row, findings, context) for role, row in table.items())
    paper = TableBlock("table3-table", caption, columns(*heads), rows, (
        (
            "TP: labelled deceptive and flagged; TN: labelled truthful and not flagged; FP: labelled "
            "truthful and flagged; FN: labelled deceptive and not flagged."
        ),
        "All observers, as in the paper, those too who know whether the speaker is a Werewolf.",
    ))  # fmt: skip
    beside = (
        "Role",
        "Judgements",
        "Base rate",
        "Constant guess",
        "Accuracy",
        "Balanced accuracy",
        "MCC",
        "d′",
        "Criterion",
    )
    baselines = TableBlock(
        "table3-baselines",
        "Beside Table 3: what guessing would have, and measures that guessing cannot raise",
        columns(*beside),
        tuple(_beyond(role, row, findings, context) for role, row in table.items()),
        (
            (
                "Base rate: share of judged statements that are labelled deceptive. Constant guess: accuracy "
                "of the better of “always deceptive” and “never”."
            ),
            "Guessing has balanced accuracy 50 %, MCC 0 and d′ 0. A criterion above 0 flags rarely, one below 0 often.",
        ),
    )
    counts = "Table 3's counts by role of the observer."
    drawn = drawing("confusion", partial(confusion, findings), counts, table, table="table3-table")
    told = note(
        "Self-labels are the paper's ground truth; detection against what is objectively true is under “Truth”."
    )
    return Section("table3", "Table 3: who detects deception", (paper, baselines, drawn, told))


def _row(role: str, row: Result, findings: Result, context: Context) -> Row:
    who = None if role == "overall" else role
    counts = (
        counted(row[name], paper=context.paper("table3", role, name), link=Selection(observer=who, judged=name))
        for name in _COUNTS
    )
    rates = (_rate(name, row, role, findings, context, reason) for name, reason in _RATES.items())
    return Row(Cell("Overall" if who is None else role), (*counts, *rates), total=who is None)


def _rate(name: str, row: Result, role: str, findings: Result, context: Context | None, reason: str) -> Cell:
    metric = name if role == "overall" else f"{name}/{role}"
    found = over_all(findings, metric)
    unit = "score" if name == "mcc" else "share"
    paper = None if context is None else context.paper("table3", role, name)
    return value(row[name], unit, within=ends(found), paper=paper, reason=reason)


def _beyond(role: str, row: Result, findings: Result, context: Context) -> Row:
    who = None if role == "overall" else role
    published = [context.paper("table3", role, name) for name in _COUNTS]
    rate = constant = None
    if all(count is not None for count in published):
        tp, tn, fp, fn = (count or 0.0 for count in published)
        rate = (tp + fn) / (tp + tn + fp + fn)
        constant = max(rate, 1 - rate)
    cells = (
        counted(row["n"], link=Selection(observer=who, judged="scored")),
        value(row["base_rate"], paper=rate, reason=_RATES["accuracy"]),
        value(row["constant_accuracy"], paper=constant, reason=_RATES["accuracy"]),
        _rate("accuracy", row, role, findings, None, _RATES["accuracy"]),
        _rate("balanced_accuracy", row, role, findings, None, _BOTH),
        _rate("mcc", row, role, findings, None, f"{_BOTH}, and flags as well as passes"),
        value(row["dprime"], "logit", reason=_BOTH),
        value(row["criterion"], "logit", reason=_BOTH),
    )
    return Row(Cell("Overall" if who is None else role), cells, total=who is None)
