"""Suspicion as a probability: Table 4, ROC curves, thresholds and recalibration (paper 4.5 and 5.7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from analytics import Result
from analytics.figures.curves import SCORE_WORDS, reliability, roc
from analytics.report.caveats import over_all
from analytics.report.context import (
    Context,
    Selection,
    counted,
    drawing,
    either,
    ends,
    interval,
    look,
    value,
)
from wolfbus.document.blocks import Block, Cell, Heading, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import Ends, count, shown

if TYPE_CHECKING:
    from analytics.measures.headlines import Score

_MEASURES: Final = {
    "balanced_accuracy": "Balanced accuracy",
    "accuracy": "Accuracy",
    "constant_accuracy": "Constant guess",
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
}
_RULES: Final = {"youden": "Youden's", "best_f1": "Best F1"}
_NEEDS: Final = "held-out judgements of both classes are needed"


def calibration(findings: Result, _: Context) -> Section:
    """Return curves, thresholds and recalibration for both scores."""
    caption = "ROC curves over all observers: hits against false alarms at every threshold. Chance is the diagonal."
    blocks: list[Block] = [
        drawing("roc", partial(roc, findings), caption, findings.get("curves"), table="roc-points"),
    ]
    blocks += (_thresholds(findings, score) for score in SCORE_WORDS)
    blocks += [*_recalibration(findings), _points(findings)]
    return Section("calibration", "Curves, thresholds, recalibration (4.5, 5.7)", tuple(blocks))


def _points(findings: Result) -> TableBlock:
    """Return the curves' points, a line each."""
    rows = tuple(
        Row(
            Cell(SCORE_WORDS[score].capitalize()),
            tuple(value(each, "score", reason="above every score") for each in point),
        )
        for score in SCORE_WORDS
        for point in look(findings, "curves", score, "overall", "roc") or ()
    )
    heads = columns("Score", "False alarms", "Hits", "Threshold")
    return TableBlock("roc-points", "The curves' points", heads, rows, empty="No judgement counts.")


def _thresholds(findings: Result, score: Score) -> TableBlock:
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
                _spread(value(found.get("threshold"), "score", reason=why), found.get("fold_thresholds")),
                value(found.get("all_games"), "score", reason=why),
                *_measured(look(found, "held_out") or {}, why, findings, score, name),
            )
            rows.append(Row(Cell(f"{label} (held out)"), cells))
    if at_half:
        cells = (Cell("0.500"), Cell("0.500"), *_measured(at_half, _NEEDS, findings, score, "at_half"))
        rows.append(Row(Cell("0.5, fitted to nothing"), cells))
    if flags:
        cells = (Cell("none"), Cell("none"), *_measured(flags, _NEEDS, findings, score, "flags"))
        rows.append(Row(Cell("The observers' own flags"), cells))
    heads = columns("Threshold", "Median over folds", "Fitted on all games", *_MEASURES.values(), "Judgements")
    notes = (
        (
            "Each judgement is scored with a threshold that was fitted without its game. Below a median stand the "
            "lowest and the highest of the folds' thresholds: how well these games settle it."
        ),
        *dict.fromkeys(reasons),
    )
    return TableBlock(
        f"thresholds-{score}",
        f"Thresholds on {SCORE_WORDS[score]}, fitted on some games and scored on others",
        heads,
        tuple(rows),
        notes,
        empty="They were not computed.",
    )


def _spread(cell: Cell, folds: Sequence[float] | None) -> Cell:
    if not folds or cell.reason is not None:
        return cell
    return replace(cell, under=f"folds {shown(min(folds), 'score')} to {shown(max(folds), 'score')}")


def _measured(measures: Mapping[str, Any], why: str, findings: Result, score: Score, rule: str) -> Iterator[Cell]:
    for name in _MEASURES:
        yield value(measures.get(name), reason=why, within=interval(findings, "thresholds", score, rule, name))
    yield counted(measures.get("n"))


def _scores(measures: Mapping[str, Any], findings: Result, kind: str, when: str) -> tuple[Cell, ...]:
    cells = (
        value(
            *(measures.get(name), "score"),
            within=interval(findings, "recalibration", kind, when, name),
            reason=_NEEDS,
        )
        for name in ("brier", "ece", "auc")
    )
    return (*cells, counted(measures.get("n")))


def _recalibration(findings: Result) -> list[Block]:
    found = findings.get("recalibration") or {}
    rows: list[Row] = []
    for kind, label in (("platt", "Platt's map"), ("isotonic", "Isotonic map")):
        fitted = found.get(kind)
        if not fitted:
            continue
        before, after = fitted.get("before") or {}, fitted.get("after") or {}
        if not rows:
            rows.append(Row(Cell("As stated"), _scores(before, findings, kind, "before")))
        rows.append(Row(Cell(label), _scores(after, findings, kind, "after")))
    why = found.get("reason") or "it was not computed"
    notes = [
        (
            f"{count(found.get('folds') or 0)} folds over {count(found.get('blocks') or 0)} blocks of games; "
            f"a map is always scored on games that it was not fitted to."
        )
    ]
    empty = f"It is undefined: {why}."
    table = TableBlock(
        "recalibration-table",
        "Suspicion as a probability, recalibrated on some games and scored on others",
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
            blocks.append(
                TableBlock(f"recalibrated-{kind}", f"Reliability after {label}, on held-out games", heads, lines)
            )
    return blocks


_HEADS: Final = ("Brier", "ROC AUC", "AUPRC", "Judgements", "Base rate", "Brier skill", "AUPRC − base", "ECE")
_VALUES: Final = {
    "brier": "score", "auc": "score", "auprc": "score", "base_rate": "share", "brier_skill": "score",
    "auprc_lift": "score", "ece": "score",
}  # fmt: skip


def table4(findings: Result, context: Context) -> Section:
    """Return Table 4 for both scores, by observer and by speaker, and the reliability diagrams."""
    blocks: list[Block] = [
        plain("Chance has AUC 0.5, AUPRC at the base rate and Brier skill 0; 0 is the best Brier score and ECE.")
    ]
    for score in SCORE_WORDS:
        found = look(findings, "table4", score)
        blocks.append(Heading(SCORE_WORDS[score].capitalize(), f"table4-{score}"))
        blocks.append(_table(found, score, "observer", findings, context))
        blocks.append(_table(found, score, "speaker", findings, context))
        caption = (
            f"Reliability of {SCORE_WORDS[score]}: of the statements that met so much suspicion, how "
            f"many were deceptive. On the diagonal it would be a probability."
        )
        blocks.append(drawing(f"reliability-{score}", partial(reliability, findings, score), caption, found))
    return Section("table4", "Table 4: is suspicion a probability?", tuple(blocks))


def _table(found: Mapping[str, Any] | None, score: Score, side: str, findings: Result, context: Context) -> TableBlock:
    by = look(found, f"by_{side}") or {}
    overall = look(found, "overall")
    lines = {**by, **({"overall": overall} if overall and side == "observer" else {})}
    rows = tuple(_row(role, row, score, side, findings, context) for role, row in lines.items())
    is_papers = score == "suspicion" and side == "observer"
    title = "Table 4. " if is_papers else "Beside Table 4: "
    caption = f"{title}{SCORE_WORDS[score].capitalize()} against self-labels, by role of the {side}"
    notes = (
        ("The paper does not say whose roles its Table 4 has; they are read as the observers'.",) if is_papers else ()
    )
    return TableBlock(
        f"table4-{score}-{side}", caption, columns("Role", *_HEADS), rows, notes, empty="It was not computed."
    )


def _row(role: str, row: Mapping[str, Any], score: Score, side: str, findings: Result, context: Context) -> Row:
    who = None if role == "overall" else role
    undefined = row.get("undefined") or {}
    papers = score == "suspicion" and side == "observer"
    cells = []
    for name, unit in _VALUES.items():
        paper = context.paper("table4", role, name) if papers else None
        cells.append(
            value(
                row.get(name),
                unit,
                within=_within(name, score, side, who, findings),
                paper=paper,
                reason=undefined.get(name),
            )
        )
    judged = Selection(observer=who, judged="scored") if side == "observer" else Selection(role=who, judged="scored")
    cells.insert(3, counted(row.get("n"), link=judged))
    return Row(Cell("Overall" if who is None else role), tuple(cells), total=who is None)


def _within(name: str, score: Score, side: str, who: str | None, findings: Result) -> Ends:
    place = ("overall",) if who is None else (f"by_{side}", who)
    found = interval(findings, "table4", score, *place, name)
    if side != "observer":
        return found
    metric = name + ("_before" if score == "before" else "") + (f"/{who}" if who else "")
    return either(ends(over_all(findings, metric)), found)
