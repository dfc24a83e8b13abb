"""Suspicion as a probability: Table 4, ROC curves, thresholds and recalibration (paper 4.5 and 5.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from analytics import Result, look
from analytics.figures.curves import SCORE_WORDS, reliability, roc
from analytics.report.context import Context, drawing, value
from analytics.report.specs import Line, table, told
from wolfbus.document.blocks import Block, Cell, Heading, Section, TableBlock, plain
from wolfbus.document.formats import count, shown

if TYPE_CHECKING:
    from analytics.measures.headlines import Score

_RULES: Final = {"youden": "Youden's", "best_f1": "Best F1"}
_UNFITTED: Final = {
    "at_half": ("0.5, fitted to nothing", "0.500"),
    "flags": ("The observers' own flags", "none"),
}
"""What is held against the fitted thresholds: its head, and what stands for a threshold."""
_MAPS: Final = {"platt": "Platt's map", "isotonic": "isotonic map"}


def calibration(findings: Result, context: Context) -> Section:
    """Return curves, thresholds and recalibration for both scores."""
    points = (
        Line(Cell(words.capitalize()), dict(zip(("false", "hits", "threshold"), point, strict=True)))
        for score, words in SCORE_WORDS.items()
        for point in look(findings, "curves", score, "overall", "roc") or ()
    )
    return Section("calibration", "Curves, thresholds, recalibration (4.5, 5.7)", (
        drawing(
            *("roc", partial(roc, findings), told("calibration/roc"), findings.get("curves")), table="roc-points"
        ),
        *(_thresholds(findings, context, score) for score in SCORE_WORDS),
        *_recalibration(findings, context),
        table("calibration/roc-points", findings, context, lines=points),
    ))  # fmt: skip


def _thresholds(findings: Result, context: Context, score: Score) -> TableBlock:
    lines: list[Line] = []
    reasons: list[str] = []
    needs = told("calibration/needs")
    found = {rule: look(findings, "thresholds", score, rule) or {} for rule in _RULES}
    for rule, label in _RULES.items():
        row = found[rule]
        if row.get("reason"):
            reasons.append(f"{label}: {row['reason']}.")
        if row:
            why = row.get("reason") or needs
            folds = row.get("fold_thresholds")
            under = f"folds {shown(min(folds), 'score')} to {shown(max(folds), 'score')}" if folds else ""
            median = value(row.get("threshold"), "score", reason=why)
            cells = {"median": median if median.reason else Cell(median.text, under), "scored": row.get("held_out")}
            lines.append(Line(Cell(f"{label} (held out)"), {**row, **cells}, {"rule": rule, "why": why}))
    for rule, (label, threshold) in _UNFITTED.items():
        scored = next(filter(None, (look(row, rule) for row in found.values())), None)
        if scored:
            cells = {"median": Cell(threshold), "all_games": Cell(threshold), "scored": scored}
            lines.append(Line(Cell(label), cells, {"rule": rule, "why": needs}))
    words: Mapping[str, Any] = {"score": score, "words": SCORE_WORDS[score]}
    return table("calibration/thresholds", findings, context, lines=lines, notes=dict.fromkeys(reasons), **words)


def _recalibration(findings: Result, context: Context) -> Iterator[Block]:
    found = findings.get("recalibration") or {}
    fitted = {kind: found[kind] for kind in _MAPS if found.get(kind)}
    lines = [
        Line(Cell(_MAPS[kind][:1].upper() + _MAPS[kind][1:]), row.get("after"), {"kind": kind, "when": "after"})
        for kind, row in fitted.items()
    ]
    for kind, row in list(fitted.items())[:1]:
        lines.insert(0, Line(Cell("As stated"), row.get("before"), {"kind": kind, "when": "before"}))
    folds, blocks = (count(found.get(name) or 0) for name in ("folds", "blocks"))
    why = found.get("reason") or "it was not computed"
    words: Mapping[str, Any] = {"folds": folds, "blocks": blocks, "why": why}
    yield table("calibration/recalibration-table", findings, context, lines=lines, **words)
    for kind, row in fitted.items():
        bins = (Line(Cell(f"{each['low']:.3f} to {each['high']:.3f}"), each) for each in row.get("reliability") or ())
        if row.get("reliability"):
            label = ("the " if kind == "isotonic" else "") + _MAPS[kind]
            yield table("calibration/recalibrated", findings, context, lines=bins, kind=kind, label=label)


def table4(findings: Result, context: Context) -> Section:
    """Return Table 4 for both scores, by observer and by speaker, and the reliability diagrams."""
    blocks: list[Block] = [plain(told("calibration/chance"))]
    for score, words in SCORE_WORDS.items():
        blocks.append(Heading(words.capitalize(), f"table4-{score}"))
        blocks += [_table4(findings, context, score, side) for side in ("observer", "speaker")]
        caption = told("calibration/reliability", score=words)
        needs = look(findings, "table4", score)
        blocks.append(drawing(f"reliability-{score}", partial(reliability, findings, score), caption, needs))
    return Section("table4", "Table 4: is suspicion a probability?", tuple(blocks))


def _table4(findings: Result, context: Context, score: Score, side: str) -> TableBlock:
    papers, by_observer = (score, side) == ("suspicion", "observer"), side == "observer"
    words: Mapping[str, Any] = {
        "score": score,
        "side": side,
        "words": SCORE_WORDS[score].capitalize(),
        "title": "Table 4. " if papers else "Beside Table 4: ",
        "published": "table4" if papers else "unpublished",
        "total": f"table4.{score}.overall" if by_observer else "",
        # headline metrics are over observers
        "suffix": ("" if score == "suspicion" else "_before") if by_observer else "_by_speaker",
    }
    return table("calibration/table4", findings, context, notes=[told("calibration/whose")] if papers else [], **words)
