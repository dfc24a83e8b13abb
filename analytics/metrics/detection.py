"""Flags against what is true: against self-labels (paper 4.5 and 5.5; Table 3), and against who speaks and what is
claimed (metrics: objective truth; beyond the paper).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

import polars as pl

from analytics.metrics.formulas import FLAG_SIDES, FLAGS, judged
from analytics.metrics.study import Family, Scope, Study, rows_of
from analytics.metrics.sums import Figure, Sums, count, share, sums_of
from analytics.results import EVERYBODY, PAIRS, UNINFORMED, ResultRow

CLASSES: Final = "there are no judged statements of both self-labels"
_LIES: Final = "there are no judged lies, or no other judged statements with a checkable claim"
_INTENT: Final = "there are no judged lies, or no judged mistakes"
_FALSEHOOD: Final = "there are no judged statements with a false claim, or none whose checkable claims are all true"
_NOTHING: Final = "nothing to judge"
_LACKING: Final = "statements of both kinds, flags or judgements are missing"
REASONS: Final[Mapping[str, str]] = {
    "accuracy": _NOTHING,
    "accuracy_lift": _NOTHING,
    "balanced_accuracy": CLASSES,
    "precision": "nothing is flagged",
    "recall": "no judged statement is labelled deceptive",
    "f1": "precision or recall is undefined",
    "mcc": "flags or labels are all alike",
}

_BY_OBSERVER: Final = {"role": "observer_role"}


def against(scope: Scope, rows: pl.Expr, deceptive: pl.Expr) -> Sums:
    """Return flags against a ground of truth, by the observer's role, and of all.

    Args:
        scope: whose judgements count.
        rows: of which statements.
        deceptive: which of these are deceptive.
    """
    flag = pl.col("flagged")
    return sums_of(
        scope.judged.filter(rows),
        scope.study.games,
        _BY_OBSERVER,
        total=True,
        tp=deceptive & flag,
        fp=~deceptive & flag,
        fn=deceptive & ~flag,
        tn=~deceptive & ~flag,
    )


_LABEL: Final = pl.col("label")
_LABELLED: Final = _LABEL.is_not_null()
_TRUTH: Final = pl.col("truth").cast(pl.String)
_LIE: Final = _TRUTH == "lie"
_CHECKED: Final = _TRUTH.is_not_null()
_FALSE: Final = _TRUTH.is_in(["lie", "mistake"])
CLEAN: Final = (pl.col("how") == "clean") & (pl.col("said_how") == "clean")


def flags(scope: Scope) -> Iterator[Sums]:
    """Yield flags against self-labels."""
    sums = against(scope, _LABELLED, _LABEL)
    sums.beside = BESIDE
    yield sums


def _figures(reasons: Mapping[str, str]) -> dict[str, Figure]:
    """Return what is told of flags, with why it may be undefined."""
    return {
        name: Figure(value, judged, reasons.get(name, CLASSES), baseline, sides=FLAG_SIDES.get(name, ()))
        for name, (value, baseline) in FLAGS.items()
    }


HEADLINES: Final = _figures(REASONS)
_NO_CLAIM: Final = "no judged statement has a checkable claim"
TRUTH_HEADLINES: Final = _figures(
    {**REASONS, "accuracy": _NO_CLAIM, "accuracy_lift": _NO_CLAIM, "balanced_accuracy": _LIES}
)
INTENT: Final = _figures({"balanced_accuracy": _INTENT})["balanced_accuracy"]
FALSEHOOD: Final = _figures({"balanced_accuracy": _FALSEHOOD})["balanced_accuracy"]
COUNTS: Final = {name: count(name) for name in ("tp", "fp", "fn", "tn")}

BESIDE: Final[Mapping[str, Figure]] = {
    **COUNTS,
    **{
        name: replace(HEADLINES[name], has_interval=False)
        for name in ("base_rate", "constant_accuracy", "dprime", "criterion")
    },
}
"""What Table 3 tells of flags beside the headline metrics."""

GROUNDS: Final[Mapping[str, tuple[pl.Expr, pl.Expr]]] = {
    "clean": (_LABELLED & CLEAN, _LABEL),
    "role": (pl.lit(value=True), pl.col("wolf")),
    "lies": (_CHECKED, _LIE),
    "of_intent": (_FALSE, _LIE),
    "of_falsehood": (_CHECKED, _FALSE),
    "same_role": (_CHECKED & _LABELLED, pl.col("wolf")),
    "same_truth": (_CHECKED & _LABELLED, _LIE),
    "same_label": (_CHECKED & _LABELLED, _LABEL),
}
"""Other grounds than the self-label of every statement that has one: of which statements, and which of these are
deceptive. ``clean``: only judgements and self-labels that were accepted as they stood. ``role``: what Werewolves say
against what the others say. ``lies``: lies against all other statements with a checkable claim; ``of_intent``: lies
against honest mistakes; ``of_falsehood``: both against statements whose checkable claims are all true. Those of
``same``: of the very same judgements, of statements with a checkable claim and with a label that counts."""


def _on_ground(ground: str, scope: Scope) -> Iterator[Sums]:
    yield against(scope, *GROUNDS[ground])


FAMILIES: Final[Mapping[str, Family]] = {ground: partial(_on_ground, ground) for ground in GROUNDS}
"""Flags against each ground."""


def detection_rows(study: Study) -> Iterator[ResultRow]:
    """Yield flags against every ground, with counts; by role of the observer, and of all."""
    for observers in PAIRS:
        scope = Scope(study, observers)
        clean = against(scope, *GROUNDS["clean"])
        yield from rows_of(study, observers, clean, _named("clean", bare=True))
        by_round = sums_of(scope.judged, study.games, {"round": "round"}, flagged=pl.col("flagged"), judged=1.0)
        yield from rows_of(study, observers, by_round, {"flagged_share": share("flagged", "judged", _NOTHING)})
    uninformed = Scope(study, UNINFORMED)
    for ground, (rows, deceptive) in GROUNDS.items():
        if ground != "clean":
            sums = against(uninformed, rows, deceptive)
            yield from rows_of(study, UNINFORMED, sums, _named(ground, bare=ground != "same_truth"))
    mistakes = uninformed.judged.filter(pl.col("truth").cast(pl.String) == "mistake")
    sums = sums_of(mistakes, study.games, _BY_OBSERVER, total=True, flagged=pl.col("flagged"), mistakes=1.0)
    flagged = share("flagged", "mistakes", "no judged statement is a mistake", has_interval=False)
    of_mistakes = {"mistakes_flagged": flagged, "judged_mistakes": count("mistakes")}
    yield from rows_of(study, UNINFORMED, sums, of_mistakes)
    judgements = sums_of(study.judged, study.games, {"agent": "observer_agent"}, judgements=1.0)
    yield from rows_of(study, EVERYBODY, judgements, {"judgements": count("judgements")})


def _named(ground: str, *, bare: bool) -> dict[str, Figure]:
    """Return counts and measures of flags against a ground, without intervals where they are bare."""
    measures = {name: replace(figure, reason=_LACKING, has_interval=not bare) for name, figure in HEADLINES.items()}
    return {f"{ground}_{name}": figure for name, figure in {**COUNTS, **measures}.items()}


def caught(scope: Scope) -> Iterator[Sums]:
    """Yield judgements of statements that an agent calls deceptive, with those that flag."""
    judged_rows = scope.of(scope.study.judged, "target_agent").filter(pl.col("label"))
    yield sums_of(judged_rows, scope.study.games, flagged=pl.col("flagged"), judged=1.0)
