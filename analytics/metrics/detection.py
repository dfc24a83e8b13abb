"""Flags against what is true: against self-labels (paper 4.5 and 5.5; Table 3), and against who speaks and what is
claimed (metrics: objective truth; beyond the paper).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

import polars as pl

from analytics.metrics.formulas import FLAGS, Formula, judged, quotient
from analytics.metrics.study import Scope, Study, rows_of
from analytics.metrics.sums import Figure, Sums, count, share, sums_of
from analytics.results import EVERYBODY, PAIRS, UNINFORMED, ResultRow

CLASSES: Final = "there are no judged statements of both self-labels"
_LIES: Final = "there are no judged lies, or no other judged statements with a checkable claim"
_INTENT: Final = "there are no judged lies, or no judged mistakes"
_FALSEHOOD: Final = "there are no judged statements with a false claim, or none whose checkable claims are all true"
_NOTHING: Final = "nothing to judge"
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


def truths(scope: Scope) -> Iterator[Sums]:
    """Yield flags of lies and of all other statements with a checkable claim, honest mistakes among them, whatever
    their labels.
    """
    yield against(scope, _CHECKED, _LIE)


def intents(scope: Scope) -> Iterator[Sums]:
    """Yield flags of lies and of honest mistakes: both say what is false, and lies alone knowingly."""
    yield against(scope, _FALSE, _LIE)


def falsehoods(scope: Scope) -> Iterator[Sums]:
    """Yield flags of what is false, lies and mistakes, and of statements whose checkable claims are all true."""
    yield against(scope, _CHECKED, _FALSE)


def figures_of(reasons: Mapping[str, str], names: Mapping[str, Formula] | None = None) -> dict[str, Figure]:
    """Return what is told of flags."""
    chosen = {name: FLAGS[name] for name in (names or FLAGS)}
    return {
        name: Figure(value, judged, reasons.get(name, CLASSES), baseline) for name, (value, baseline) in chosen.items()
    }


HEADLINES: Final = figures_of(REASONS)
_NO_CLAIM: Final = "no judged statement has a checkable claim"
TRUTH_HEADLINES: Final = figures_of(
    {**REASONS, "accuracy": _NO_CLAIM, "accuracy_lift": _NO_CLAIM, "balanced_accuracy": _LIES}
)
INTENT: Final = figures_of({"balanced_accuracy": _INTENT})["balanced_accuracy"]
FALSEHOOD: Final = figures_of({"balanced_accuracy": _FALSEHOOD})["balanced_accuracy"]
COUNTS: Final = {name: count(name) for name in ("tp", "fp", "fn", "tn")}

BESIDE: Final[Mapping[str, Figure]] = {
    **COUNTS,
    **{
        name: Figure(FLAGS[name][0], judged, has_interval=False)
        for name in ("base_rate", "constant_accuracy", "dprime", "criterion")
    },
}
"""What Table 3 tells of flags beside the headline metrics."""

GROUNDS: Final[Mapping[str, Callable[[Scope], Sums]]] = {
    "clean": lambda scope: against(scope, _LABELLED & CLEAN, _LABEL),
    "role": lambda scope: against(scope, pl.lit(value=True), pl.col("wolf")),
    "lies": lambda scope: against(scope, _CHECKED, _LIE),
    "of_intent": lambda scope: against(scope, _FALSE, _LIE),
    "of_falsehood": lambda scope: against(scope, _CHECKED, _FALSE),
    "same_role": lambda scope: against(scope, _CHECKED & _LABELLED, pl.col("wolf")),
    "same_truth": lambda scope: against(scope, _CHECKED & _LABELLED, _LIE),
    "same_label": lambda scope: against(scope, _CHECKED & _LABELLED, _LABEL),
}
"""Other grounds than the self-label of every statement that has one. ``clean``: only judgements and self-labels that
were accepted as they stood. ``role``: what Werewolves say against what the others say. ``lies``: lies against all other
statements with a checkable claim; ``of_intent``: lies against honest mistakes; ``of_falsehood``: both against
statements whose checkable claims are all true. Those of ``same``: of the very same judgements, of statements with a
checkable claim and with a label that counts."""


def detection_rows(study: Study) -> Iterator[ResultRow]:
    """Yield flags against every ground, with counts; by role of the observer, and of all."""
    for observers in PAIRS:
        scope = Scope(study, observers)
        clean = GROUNDS["clean"](scope)
        yield from rows_of(study, observers, clean, _named("clean", bare=True))
        by_round = sums_of(scope.judged, study.games, {"round": "round"}, flagged=pl.col("flagged"), judged=1.0)
        yield from rows_of(study, observers, by_round, {"flagged_share": share("flagged", "judged", _NOTHING)})
    uninformed = Scope(study, UNINFORMED)
    for ground, make in GROUNDS.items():
        if ground != "clean":
            bare = ground != "same_truth"
            yield from rows_of(study, UNINFORMED, make(uninformed), _named(ground, bare=bare))
    mistakes = uninformed.judged.filter(pl.col("truth").cast(pl.String) == "mistake")
    sums = sums_of(mistakes, study.games, _BY_OBSERVER, total=True, flagged=pl.col("flagged"), mistakes=1.0)
    of_mistakes = {"mistakes_flagged": Figure(quotient("flagged", "mistakes")), "judged_mistakes": count("mistakes")}
    yield from rows_of(study, UNINFORMED, sums, of_mistakes)
    judgements = sums_of(study.judged, study.games, {"agent": "observer_agent"}, judgements=1.0)
    yield from rows_of(study, EVERYBODY, judgements, {"judgements": count("judgements")})


def _named(ground: str, *, bare: bool) -> dict[str, Figure]:
    """Return counts and measures of flags against a ground, without intervals where they are bare."""
    measures = {name: Figure(value) for name, (value, _) in FLAGS.items()} if bare else HEADLINES
    return {f"{ground}_{name}": figure for name, figure in {**COUNTS, **measures}.items()}


def caught(scope: Scope) -> Iterator[Sums]:
    """Yield judgements of statements that an agent calls deceptive, with those that flag."""
    judged_rows = scope.of(scope.study.judged, "target_agent").filter(pl.col("label"))
    yield sums_of(judged_rows, scope.study.games, flagged=pl.col("flagged"), judged=1.0)
