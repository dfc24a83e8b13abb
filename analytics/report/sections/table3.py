"""Table 3: how well observers find self-labelled deception (paper 5.5), with the baselines it needs."""

from __future__ import annotations

from functools import partial
from typing import Final

from analytics import Result
from analytics.figures import confusion
from analytics.report.cells import counted, ends, value
from analytics.report.context import Context
from analytics.report.drawings import drawing
from analytics.report.links import Selection
from analytics.report.verdicts import over_all
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns, note

_COUNTS: Final = ("tp", "tn", "fp", "fn")
_RATES: Final = {
    "accuracy": "no judged statement has a self-label that counts",
    "precision": "nothing was flagged",
    "recall": "no judged statement is labelled deceptive",
    "f1": "precision or recall is undefined",
}
_BOTH: Final = "deceptive and truthful statements are needed"


def section(findings: Result, context: Context) -> Section:
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
