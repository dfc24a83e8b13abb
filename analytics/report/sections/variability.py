"""Every headline with its interval (paper 5.9): ours resamples games, the paper's is mean ± 1.96 SEM."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analytics import Result
from analytics.report.cells import counted, estimate, value
from analytics.report.context import Context
from analytics.report.verdicts import TELLING
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns
from wolfbus.document.formats import count, shown


def section(findings: Result, context: Context) -> Section:
    """Return the table of headlines."""
    found = findings.get("variability") or {}
    rows = tuple(_row(name, metric, context) for name, metric in (found.get("metrics") or {}).items())
    kind = {"game": "games", "block": "blocks of the design"}.get(str(found.get("block_kind")), "games")
    notes = [
        (
            f"The 95 % interval is a bootstrap of {count(found.get('draws') or 0)} draws that "
            f"resample {count(found.get('blocks') or 0)} {kind} and recompute the pooled estimate; its quantiles "
            "allow for their number. Rates of games have Wilson's interval instead."
        ),
        (
            "The paper's own way, mean over games ± 1.96 standard errors, is the column beside it, around "
            "the mean of the games in which the number is defined; it is over all observers."
        ),
        (
            "What observers make of others is over those who do not know whether the other is a Werewolf; beside it "
            "stands the same over all observers."
        ),
    ]
    if (found.get("blocks") or TELLING) < TELLING:
        notes.append(
            f"Below {TELLING} {kind} this report calls nothing better than anything else; below 5 there are no "
            "intervals."
        )
    heads = columns(
        *("Headline", "Pooled, 95 % interval", "Games", "Baseline", "All observers, as in the paper"),
        *("Mean over games ± 1.96 SEM", "Games it is defined in"),
    )
    table = TableBlock(
        "headlines",
        "Headlines and their variability",
        heads,
        rows,
        tuple(notes),
        context.contradictions("variability"),
        empty="It was not computed.",
    )
    return Section("variability", "Variability (5.9)", (_primary(findings), table))


def _primary(findings: Result) -> TableBlock:
    found = findings.get("primary") or {}
    rows = []
    for name, row in (found.get("metrics") or {}).items():
        unit, first = str(row.get("unit") or "share"), row.get("agent")
        compared = (
            Cell(f"{first} before {row.get('second')}") if first else value(row.get("value"), unit, reason="undefined")
        )
        apart = "points" if unit in {"share", "probability", "points"} else unit
        cells = (
            compared,
            Cell("–") if row.get("baseline") is None else Cell(shown(row["baseline"], unit)),
            estimate(row.get("difference"), apart),
            *(value(row.get(p), "score", reason="it is not tested") for p in ("p", "p_adjusted")),
            Cell(str(row.get("verdict") or "–")),
        )
        rows.append(Row(Cell(_label(name, row)), cells))
    how = "declared before the study was played" if found.get("declared") else "the usual ones: the study declared none"
    flips = f"{'all ' if found.get('exact') else ''}{count(found.get('flips') or 0)} ways to flip the signs of blocks"
    notes = (
        f"They are {how}. p: {flips}; adjusted: for all of them together, by the greatest statistic of each flip.",
        "Whatever else this report tells is exploratory.",
    )
    heads = columns("Primary metric", "Value", "Baseline", "Difference", "p", "Adjusted p", "Verdict")
    empty = "They were not computed."
    return TableBlock("primary", "Primary metrics", heads, tuple(rows), notes if rows else (), empty=empty)


def _row(name: str, metric: Mapping[str, Any], context: Context) -> Row:
    unit = str(metric.get("unit") or "share")
    mean, half = metric.get("paper_mean"), metric.get("paper_half")
    spread = value(mean, unit, reason="no game defines it, or it is held against a maximum over each game")
    if mean is not None and half is not None:
        spread = Cell(
            f"{shown(mean, unit)} ± {100 * half:.1f}"
            if unit in {"share", "points"}
            else f"{shown(mean, unit)} ± {half:.3f}"
        )
    baseline = metric.get("baseline")
    told = Cell("–") if baseline is None else Cell(shown(baseline, unit), under=str(metric.get("baseline_label") or ""))
    paper = context.paper("variability", "metrics", name)
    everybody = metric.get("all_observers")
    cells = (
        estimate(metric, unit, paper=None if everybody else paper),
        counted(metric.get("games")),
        told,
        estimate(everybody, unit, paper=paper) if everybody else Cell("–"),
        spread,
        counted(metric.get("paper_games")),
    )
    return Row(Cell(_label(name, metric)), cells)


def _label(name: str, metric: Mapping[str, Any]) -> str:
    label = str(metric.get("label") or name)
    label = label[:1].upper() + label[1:]
    role = name.partition("/")[2]
    return f"{label}, {role}" if role and role not in label else label
