"""Who wins, how long games are, how often speakers deceive (paper 5.2, 5.3), and Tables 1, 2, 3 and 5 (5.3, 5.4, 5.5,
5.8) with the baselines and intervals that they need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from analytics import Result
from analytics.figures.tables import confusion, production_by_role, suspicion_heatmap, win_shares
from analytics.report.context import Context, drawing, metric, over_all
from analytics.report.specs import table
from wolfbus.document.blocks import Heading, Section, note

_COUNTS: Final = frozenset({"tp", "tn", "fp", "fn"})


def table1(findings: Result, context: Context) -> Section:
    """Return Table 1 in the paper's layout, with denominators beside it."""
    return Section("table1", "Table 1: deception by role", (table("tables/table1-table", findings, context),))


def table5(findings: Result, context: Context) -> Section:
    """Return Table 5 in the paper's layout."""
    return Section("table5", "Table 5: kinds of deception", (table("tables/table5-table", findings, context),))


def table2(findings: Result, context: Context) -> Section:
    """Return Table 2 and its heat map."""
    heat = partial(suspicion_heatmap, findings)
    needs = findings.get("table2")
    gaps = {
        name: {"uninformed": metric(findings, name), "all": over_all(findings, name)}
        for name in ("suspicion_gap", "raw_suspicion_gap")
        if metric(findings, name)
    }
    return Section("table2", "Table 2: who suspects whom", (
        table("tables/table2-table", findings, context),
        drawing("heatmap", heat, "Table 2 as a heat map.", needs, table="table2-table"),
        table("tables/gap", findings, context, rows=gaps),
    ))  # fmt: skip


def table3(findings: Result, context: Context) -> Section:
    """Return Table 3 in the paper's layout, then its baselines, and the counts as a figure."""
    counts = "Table 3's counts by role of the observer."
    drawn = drawing("confusion", partial(confusion, findings), counts, findings.get("table3"), table="table3-table")
    told = note(
        "Self-labels are the paper's ground truth; detection against what is objectively true is under “Truth”."
    )
    published = context.published.get("table3") or {}
    rates = {role: {**row, **_rates(row)} for role, row in published.items() if set(row) >= _COUNTS}
    beside = replace(context, published={**context.published, "table3": rates})
    return Section("table3", "Table 3: who detects deception", (
        table("tables/table3-table", findings, context),
        table("tables/table3-baselines", findings, beside),
        drawn,
        told,
    ))  # fmt: skip


def _rates(row: Mapping[str, Any]) -> dict[str, float]:
    """Return what the paper's counts make of the base rate and of the better constant guess."""
    tp, tn, fp, fn = (row[name] for name in ("tp", "tn", "fp", "fn"))
    rate = (tp + fn) / (tp + tn + fp + fn)
    return {"base_rate": rate, "constant_accuracy": max(rate, 1 - rate)}


_SPLITS: Final[Mapping[str, Mapping[str, Any]]] = {
    "role": {"split_name": "Role", "of": "the speaker's role", "by": "role", "paper": "base_rate"},
    "brain": {"split_name": "Agent", "of": "the speaker's agent", "by": "agent"},
    "round": {"split_name": "Round", "of": "round", "by": "round"},
    "phase": {"split_name": "Phase", "of": "phase", "by": "phase"},
}


def outcomes(findings: Result, context: Context) -> Section:
    """Return outcomes, lengths and production."""
    won, made = partial(win_shares, findings), partial(production_by_role, findings)
    caption = "Statements that their speakers call deceptive, by role."
    return Section("outcomes", "Outcomes and deception (5.2, 5.3)", (
        drawing(
            *("wins", won, "Who won the finished games.", findings.get("outcomes")), "No game is finished.", "winners"
        ),
        table("tables/winners", findings, context),
        table("tables/lengths", findings, context),
        Heading("How often speakers call their own statements deceptive", "production"),
        drawing("production-figure", made, caption, findings.get("production"), table="production-role"),
        *(table("tables/production", findings, context, split=split, **words) for split, words in _SPLITS.items()),
    ))  # fmt: skip
