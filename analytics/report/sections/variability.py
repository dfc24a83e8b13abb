"""Every headline with its interval (paper 5.9): ours resamples games, the paper's is mean ± 1.96 SEM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from analytics import Result
from analytics.report.cells import NO_INTERVAL, counted, ends, estimate, look, value
from analytics.report.context import Context
from analytics.report.verdicts import SOUND, TELLING
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns
from wolfbus.document.formats import between, count, shown

_WINS: Final = {"villager_wins": "villagers", "werewolf_wins": "werewolves", "no_winner": "nobody"}


def section(findings: Result, context: Context) -> Section:
    """Return the table of headlines."""
    found = findings.get("variability") or {}
    rows = tuple(_row(name, metric, findings, context) for name, metric in (found.get("metrics") or {}).items())
    kind = {"game": "games", "block": "blocks of the design"}.get(str(found.get("block_kind")), "games")
    notes = [
        (
            f"The 95 % interval is a percentile bootstrap of {count(found.get('draws') or 0)} draws that "
            f"resample {count(found.get('blocks') or 0)} {kind} and recompute the pooled estimate."
        ),
        (
            "The paper's own way, mean over games ± 1.96 standard errors, is the column beside it, around "
            "the mean of the games in which the number is defined."
        ),
    ]
    if (found.get("blocks") or SOUND) < SOUND:
        notes.append(
            f"Intervals of fewer than {SOUND} {kind} are somewhat too narrow: of 8 they hold about 87 %, of 20 about "
            f"92 %. Below {TELLING} this report calls nothing better than anything else, and below 5 there are none."
        )
    if any("Wilson" in cell.under for row in rows for cell in row.cells):
        notes.append("Where there is no bootstrap, shares of wins have Wilson's interval, by single games.")
    heads = columns(
        "Headline", "Pooled, 95 % interval", "Games", "Baseline", "Mean over games ± 1.96 SEM", "Games it is defined in"
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
    return Section("variability", "Variability (5.9)", (table,))


def _row(name: str, metric: Mapping[str, Any], findings: Result, context: Context) -> Row:
    unit = str(metric.get("unit") or "share")
    mean, half = metric.get("paper_mean"), metric.get("paper_half")
    spread = value(mean, unit, reason="no game defines it")
    if mean is not None and half is not None:
        spread = Cell(
            f"{shown(mean, unit)} ± {100 * half:.1f}"
            if unit in {"share", "points"}
            else f"{shown(mean, unit)} ± {half:.3f}"
        )
    baseline = metric.get("baseline")
    told = Cell("–") if baseline is None else Cell(shown(baseline, unit), under=str(metric.get("baseline_label") or ""))
    paper = context.paper("variability", "metrics", name)
    winner = look(findings, "outcomes", "winners", _WINS.get(name, ""))
    pooled = estimate(metric, unit, paper=paper)
    if pooled.lacking is not None and None not in ends(winner):
        wilson = f"{between(*ends(winner))} (Wilson's)"
        pooled = replace(pooled, under=pooled.under.replace(NO_INTERVAL, wilson), lacking=None)
    cells = (
        pooled,
        counted(metric.get("games")),
        told,
        spread,
        counted(metric.get("paper_games")),
    )
    return Row(Cell(_label(name, metric)), cells)


def _label(name: str, metric: Mapping[str, Any]) -> str:
    label = str(metric.get("label") or name)
    label = label[:1].upper() + label[1:]
    role = name.partition("/")[2]
    return f"{label}, {role}" if role and role not in label else label
