"""Every headline with its interval (paper 5.9): ours resamples games, the paper's is mean ± 1.96 SEM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from analytics import Result
from analytics.measures.primary import LEADS
from analytics.report.caveats import TELLING, WORDS
from analytics.report.cells import estimate, value
from analytics.report.context import Context
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns
from wolfbus.document.formats import count, shown


def section(findings: Result, context: Context) -> Section:
    """Return the table of headlines."""
    found = findings.get("variability") or {}
    metrics = found.get("metrics") or {}
    rows = tuple(_row(name, metric, context) for name, metric in metrics.items() if "/" not in name)
    kind = {"game": "games", "block": "blocks of the design"}.get(str(found.get("block_kind")), "games")
    notes = [
        (
            f"Intervals: bootstrap of {count(found.get('draws') or 0)} draws over "
            f"{count(found.get('blocks') or 0)} {kind}, Wilson's for rates of games; over observers who have to find "
            "out. The paper's way: mean over games ± 1.96 standard errors, over all observers, with the pooled value "
            "over all of them below it."
        ),
    ]
    if (found.get("blocks") or TELLING) < TELLING:
        notes.append(f"Below {TELLING} {kind} nothing is called better than anything else; below 5 have no interval.")
    heads = columns("Headline", "Pooled", "Baseline", "As in the paper")
    table = TableBlock(
        "headlines",
        "Headlines and their variability",
        heads,
        rows,
        tuple(notes),
        empty="It was not computed.",
    )
    return Section("variability", "All headlines and their variability (5.9)", (table,))


_CLEAR: Final[Mapping[str, str]] = {
    "above": "is above its baseline",
    "below": "is below its baseline",
    "unclear": "is not clearly different from its baseline",
    "undefined": "is undefined",
    "few": "rests on too few games to tell",
}


def primary(findings: Result, context: Context) -> Section:
    """Return the primary metrics, each with the sentence that its test allows."""
    found = findings.get("primary") or {}
    rows = []
    for name, row in (found.get("metrics") or {}).items():
        unit, first = str(row.get("unit") or "share"), row.get("agent")
        apart = "points" if unit in {"share", "probability", "points"} else unit
        cells = (
            Cell("–") if name in LEADS else value(row.get("value"), unit, reason="undefined"),
            Cell("–") if row.get("baseline") is None else Cell(shown(row["baseline"], unit)),
            estimate(row.get("difference"), apart),
            value(row.get("p_adjusted"), "score", reason="it is not tested"),
        )
        verdict = str(row.get("verdict") or "undefined")
        if name in LEADS and first:
            who = f"{context.name(first)} before {context.name(str(row.get('second')))} in {LEADS[name]}"
            said = f"{who}: {'clear' if verdict == 'above' else 'not clear'}"
        else:
            said = WORDS.get(name, {}).get(verdict) or f"{_label(name, row)} {_CLEAR[verdict]}"  # type: ignore[call-overload]
        rows.append(Row(Cell(said), cells))
    how = "declared before the study was played" if found.get("declared") else "the usual ones: the study declared none"
    flips = f"{'all ' if found.get('exact') else ''}{count(found.get('flips') or 0)} ways to flip the signs of blocks"
    notes = (
        f"They are {how}. p: {flips}, adjusted for all of them together by the greatest statistic of each flip.",
        "All else on this page is exploratory.",
    )
    heads = columns("Primary metric", "Value", "Baseline", "Difference", "Adjusted p")
    empty = "They were not computed."
    table = TableBlock("primary-table", "What can be said", heads, tuple(rows), notes if rows else (), empty=empty)
    return Section("primary", "What can be said, tested", (table,))


def _row(name: str, metric: Mapping[str, Any], context: Context) -> Row:
    unit = str(metric.get("unit") or "share")
    mean, half = metric.get("paper_mean"), metric.get("paper_half")
    paper, everybody = context.paper("variability", "metrics", name), metric.get("all_observers")
    spread = value(mean, unit, paper=paper, reason="no game defines it, or it is held against a maximum in each game")
    if mean is not None:
        around = "" if half is None else f" ± {100 * half:.1f}" if unit in {"share", "points"} else f" ± {half:.3f}"
        pooled = f"pooled {shown(everybody.get('value'), unit)}" if everybody else ""
        spread = replace(spread, text=spread.text + around, under=pooled)
    baseline = metric.get("baseline")
    told = Cell("–") if baseline is None else Cell(shown(baseline, unit), under=str(metric.get("baseline_label") or ""))
    cells = (estimate(metric, unit), told, spread)
    return Row(Cell(_label(name, metric)), cells)


def _label(name: str, metric: Mapping[str, Any]) -> str:
    label = str(metric.get("label") or name)
    label = label[:1].upper() + label[1:]
    role = name.partition("/")[2]
    return f"{label}, {role}" if role and role not in label else label
