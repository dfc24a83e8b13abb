"""ROC and precision-recall curves, thresholds, recalibration (paper 4.5 and 5.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, Final

from analytics.accumulator import Result
from analytics.figures import precision_recall, roc
from analytics.report.blocks import Block, Cell, Heading, Row, Section, Table, columns
from analytics.report.context import Context
from analytics.report.drawings import SCORE_WORDS, SCORES, Score, drawing
from analytics.report.numbers import count, counted, look, value

_MEASURES: Final = {
    "balanced_accuracy": "Balanced accuracy",
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "base_rate": "Base rate",
    "constant_accuracy": "Constant guess",
}
_RULES: Final = {"youden": "Youden's", "best_f1": "Best F1"}
_NEEDS: Final = "held-out judgements of both classes are needed"


def section(findings: Result, _: Context) -> Section:
    """Return curves, thresholds and recalibration for both scores."""
    blocks: list[Block] = [Heading("Curves", "curves")]
    for score in SCORES:
        found = look(findings, "curves", score)
        words = SCORE_WORDS[score].lower()
        caption = f"ROC curves of {words}: hits against false alarms at every threshold. Chance is the diagonal."
        blocks.append(drawing(f"roc-{score}", partial(roc, findings, score), caption, found))
        caption = f"Precision and recall of {words} at every threshold. Chance is the base rate, the level line."
        blocks.append(drawing(f"pr-{score}", partial(precision_recall, findings, score), caption, found))
    blocks.append(Heading("Thresholds, fitted on some games and scored on others", "thresholds"))
    blocks += (_thresholds(findings, score) for score in SCORES)
    blocks.append(Heading("Recalibration, fitted on some games and scored on others", "recalibration"))
    blocks += _recalibration(findings)
    return Section("calibration", "Curves, thresholds, recalibration (4.5, 5.7)", tuple(blocks))


def _thresholds(findings: Result, score: Score) -> Table:
    rows: list[Row] = []
    reasons: list[str] = []
    at_half: Mapping[str, Any] = {}
    flags: Mapping[str, Any] = {}
    for name, label in _RULES.items():
        found = look(findings, "thresholds", score, name) or {}
        if found.get("reason"):
            reasons.append(f"{label}: {found['reason']}.")
        at_half, flags = at_half or look(found, "at_half") or {}, flags or look(found, "flags") or {}
        if found:
            why = found.get("reason") or _NEEDS
            cells = (
                value(found.get("threshold"), "score", reason=why),
                value(found.get("all_games"), "score", reason=why),
                *_measured(look(found, "held_out") or {}, why),
            )
            rows.append(Row(Cell(f"{label} (held out)"), cells))
    if at_half:
        rows.append(Row(Cell("0.5, fitted to nothing"), (Cell("0.500"), Cell("0.500"), *_measured(at_half, _NEEDS))))
    if flags:
        rows.append(Row(Cell("The observers' own flags"), (Cell("none"), Cell("none"), *_measured(flags, _NEEDS))))
    heads = columns("Threshold", "Median over folds", "Fitted on all games", *_MEASURES.values(), "Judgements")
    notes = ("Each judgement is scored with a threshold that was fitted without its game.", *dict.fromkeys(reasons))
    return Table(
        f"thresholds-{score}",
        f"Thresholds on {SCORE_WORDS[score].lower()}",
        heads,
        tuple(rows),
        notes,
        empty="They were not computed.",
    )


def _measured(measures: Mapping[str, Any], why: str) -> Iterator[Cell]:
    for name in _MEASURES:
        yield value(measures.get(name), reason=why)
    yield counted(measures.get("n"))


def _recalibration(findings: Result) -> list[Block]:
    found = findings.get("recalibration") or {}
    rows: list[Row] = []
    names = ("brier", "ece", "auc")
    for kind, label in (("platt", "Platt's map"), ("isotonic", "Isotonic map")):
        fitted = found.get(kind)
        if not fitted:
            continue
        before, after = fitted.get("before") or {}, fitted.get("after") or {}
        if not rows:
            cells = tuple(value(before.get(name), "score", reason=_NEEDS) for name in names)
            rows.append(Row(Cell("As stated"), (*cells, counted(before.get("n")))))
        cells = tuple(value(after.get(name), "score", reason=_NEEDS) for name in names)
        rows.append(Row(Cell(label), (*cells, counted(after.get("n")))))
    why = found.get("reason") or "it was not computed"
    notes = [
        (
            f"{count(found.get('folds') or 0)} folds over {count(found.get('blocks') or 0)} blocks of games; "
            f"a map is always scored on games that it was not fitted to."
        )
    ]
    empty = f"It is undefined: {why}."
    table = Table(
        "recalibration-table",
        "Suspicion as a probability, before and after recalibration",
        columns("Map", "Brier", "ECE", "AUC", "Judgements"),
        tuple(rows),
        tuple(notes),
        empty=empty,
    )
    blocks: list[Block] = [table]
    for kind, label in (("platt", "Platt's map"), ("isotonic", "the isotonic map")):
        bins = look(found, kind, "reliability")
        if bins:
            lines = tuple(
                Row(
                    Cell(f"{bin_['low']:.3f} to {bin_['high']:.3f}"),
                    (value(bin_["mean_score"]), value(bin_["share"]), counted(bin_["n"])),
                )
                for bin_ in bins
            )
            heads = columns("Recalibrated", "Mean", "Deceptive", "Judgements")
            blocks.append(Table(f"recalibrated-{kind}", f"Reliability after {label}, on held-out games", heads, lines))
    return blocks
