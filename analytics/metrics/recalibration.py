"""What is chosen on some games and scored on others: thresholds, suspicion made into flags (paper, section 4.5); and
recalibration, suspicion mapped to a probability (paper, section 5.7: "calibration adjustments could improve detection
without altering gameplay").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from scipy.special import expit, logit

from analytics import Result
from analytics.metrics.detection import HEADLINES
from analytics.metrics.formulas import Array, judged, ratio, roc_pairs
from analytics.metrics.scores import FIGURES, SCORES, Score, Scored, ScoreSums, reliability, score_sums, scored
from analytics.metrics.study import Study, rows_of
from analytics.metrics.sums import Figure, Sums
from analytics.results import EVERYBODY, ResultRow, Results

Rule: TypeAlias = Literal["youden", "best_f1"]
"""What a threshold is to make greatest: Youden's J = true-positive rate − false-positive rate, or F1."""
RULES: Final[tuple[Rule, ...]] = ("youden", "best_f1")
HALF: Final = 0.5
"""Where suspicion, taken at its word, says "more likely deceptive than not"."""
FOLDS: Final = 5
"""Parts into which the blocks of games are dealt (metrics: Recalibration)."""
MEASURES: Final = (
    "balanced_accuracy",
    "f1",
    "precision",
    "recall",
    "accuracy",
    "n",
    "base_rate",
    "constant_accuracy",
)
"""What of Table 3 is told of flags made by thresholds."""


def folds_of(blocks: Array) -> Array:
    """Return the fold of every judgement, from 0; judgements of one block are in one fold, and folds hold about equally
    many (metrics: GroupKFold(5)).

    Args:
        blocks: block of each judgement, of at least `FOLDS` blocks.
    """
    _, block = np.unique(blocks, return_inverse=True)
    sizes = np.bincount(block)
    sizes_of, fold = np.zeros(FOLDS, np.int64), np.zeros(len(sizes), np.int64)
    # the largest block first, each into the fold that has least
    for place in np.argsort(sizes, kind="stable")[::-1].tolist():
        fold[place] = sizes_of.argmin()
        sizes_of[fold[place]] += sizes[place]
    return fold[block]


class HeldOut:
    """The judgements with a score, dealt into folds, and what is fitted on all folds but one.

    Args:
        study: the games.
        score: which score.

    Attributes:
        rows: the judgements that count, in ascending order of the score.
        folds: the fold of each; None where nothing can be fitted and scored on them.
        reason: why not.
    """

    def __init__(self, study: Study, score: Score) -> None:
        self.study = study
        self.rows = scored(study.judged, score)
        blocks = study.block[self.rows.game]
        self.blocks = len(np.unique(blocks))
        self.folds: Array | None = None
        self.reason = self.rows.one_sided()
        if self.reason is None and self.blocks < FOLDS:
            self.reason = f"needs {FOLDS} blocks of games with judgements that count, and there are {self.blocks}"
        if self.reason is None:
            folds = folds_of(blocks)
            outside = [self.rows.deceptive[folds != fold] for fold in range(FOLDS)]
            if any(labels.all() or not labels.any() for labels in outside):
                self.reason = "in the games outside one fold every statement that was judged has the same label"
            else:
                self.folds = folds

    def folded(self, fit: Callable[[Scored], Any]) -> Iterator[tuple[Array, Any]]:
        """Yield the judgements of each fold, and what is fitted on the others."""
        for fold in range(FOLDS):
            inside = np.asarray(self.folds == fold)
            yield inside, fit(self.rows.subset(~inside))


def held_out(study: Study, score: Score) -> HeldOut:
    """Return the judgements with a score, dealt into folds, made once."""
    return study.cached(("held out", score), lambda: HeldOut(study, score))


# -- thresholds


def best(rows: Scored, rule: Rule) -> float:
    """Return the score which, as a threshold, makes `rule` greatest; the highest of several.

    Args:
        rows: judgements of deceptive and truthful statements both.
        rule: what to make greatest.
    """
    alarms, hits = np.cumsum(rows.counts[:, ::-1], axis=1)
    positives = int(rows.deceptive.sum())
    if rule == "youden":
        # J times a constant, in whole numbers: equal is equal
        gain = hits * (len(rows) - positives) - alarms * positives
    else:
        gain = 2 * hits / (hits + alarms + positives)
    return float(rows.ties[0][::-1][int(gain.argmax())])


def threshold_rows(study: Study) -> Iterator[ResultRow]:
    """Yield Youden's and the best-F1 threshold (paper 4.5; metrics: Thresholds), for suspicion and for D before.

    A statement counts as flagged when its score is at least the threshold. ``threshold``: the median of those fitted
    with one fold of games left out each, which are ``fold_threshold``; ``whole_threshold``: the one fitted on all
    games. ``held_out_*``: measures of the flags that each fold gets from the threshold of the other games, all folds
    pooled; ``at_half_*`` and ``own_flags_*``: the same measures of the same judgements for the threshold 0.5, which
    nobody has to fit, and for the flags that the observers raised themselves.
    """
    figures = {name: HEADLINES[name] for name in MEASURES if name != "n"}
    bare = {name: replace(figure, has_interval=False) for name, figure in figures.items()} | {"n": Figure(judged)}
    for score in SCORES:
        dealt = held_out(study, score)
        rows = dealt.rows
        for prefix, flags in (("at_half", rows.scores >= HALF), ("own_flags", rows.flags == 1)):
            named = {f"{prefix}_{name}": figure for name, figure in bare.items()}
            yield from rows_of(study, EVERYBODY, _flag_sums(rows, flags, study.games), named, score=score)
        for rule in RULES:
            group = f"rule:{rule} score:{score}"
            whole = None if rows.one_sided() else best(rows, rule)
            yield ResultRow("whole_threshold", group, EVERYBODY, whole, reason=rows.one_sided())
            if dealt.folds is None:
                yield ResultRow("threshold", group, EVERYBODY, None, reason=dealt.reason)
                continue
            flags, fitted = np.zeros(len(rows), bool), []
            for inside, threshold in dealt.folded(lambda others, rule=rule: best(others, rule)):  # type: ignore[misc]
                flags[inside] = rows.scores[inside] >= threshold
                fitted.append(threshold)
                of_fold = f"fold:{len(fitted)} {group}"
                yield ResultRow("fold_threshold", of_fold, EVERYBODY, threshold)
            yield ResultRow("threshold", group, EVERYBODY, sorted(fitted)[FOLDS // 2])
            named = {f"held_out_{name}": figure for name, figure in {**figures, "n": Figure(judged)}.items()}
            sums = _flag_sums(rows, flags, study.games)
            yield from rows_of(study, EVERYBODY, sums, named, rule=rule, score=score)


def _flag_sums(rows: Scored, flags: Array, games: int) -> Sums:
    cell = (rows.game * 2 + rows.deceptive) * 2 + flags
    counts = np.bincount(cell, minlength=games * 4).reshape(games, 1, 4)
    return Sums([{}], ("tn", "fp", "fn", "tp"), counts.astype(np.float64))


def thresholds(study: Study, results: Results) -> Result:
    """Return Youden's and the best-F1 threshold, and what they do; see `threshold_rows`."""
    return {score: {rule: _threshold(study, results, score, rule) for rule in RULES} for score in SCORES}


def _threshold(study: Study, results: Results, score: Score, rule: Rule) -> Result:
    dealt = held_out(study, score)

    def measures(prefix: str, **group: str) -> Result:
        values = {name: results.value(f"{prefix}_{name}", EVERYBODY, **group) for name in MEASURES}
        return {**values, "n": round(values["n"] or 0)}

    is_fitted = dealt.folds is not None
    group = {"rule": rule, "score": score}
    fitted = [results.value("fold_threshold", EVERYBODY, fold=fold, **group) for fold in range(1, FOLDS + 1)]
    return {
        "threshold": results.value("threshold", EVERYBODY, **group),
        "all_games": results.value("whole_threshold", EVERYBODY, **group),
        "fold_thresholds": fitted if is_fitted else None,
        "held_out": measures("held_out", **group) if is_fitted else None,
        "at_half": measures("at_half", score=score),
        "flags": measures("own_flags", score=score),
        "folds": FOLDS if is_fitted else 0,
        "reason": dealt.reason,
    }


# -- recalibration

Kind: TypeAlias = Literal["platt", "isotonic"]
KINDS: Final[tuple[Kind, ...]] = ("platt", "isotonic")
CLIP: Final = 0.005
"""How close to 0 and 1 suspicion may come before its logit is taken: half of the last digit that models mostly give, so
that 0 and 0.01 stay apart.
"""
_STEPS: Final = 100


def fit(rows: Scored, kind: Kind) -> Result:
    """Return the map s → P(deceptive) of a kind that fits judgements of deceptive and of truthful statements: its kind
    and parameters.

    ``platt``: P = 1 / (1 + exp(−(slope · logit s + intercept))), with s brought into [clip, 1 − clip] first. Slope 1
    and intercept 0 leave suspicion as it is; a slope below 1 says that it is overconfident, one below 0 that it points
    the wrong way. ``isotonic``: a line through ``points``, level before the first and after the last; it never falls.
    """
    return _platt(rows) if kind == "platt" else _isotonic(rows)


def _platt(rows: Scored) -> Result:
    """Return the unpenalised logistic regression on the *logit* of suspicion, clipped.

    On the logit, not on suspicion itself: so that suspicion which is calibrated already is left alone, and so that
    over- and underconfidence, which stretch the logit, are what it can mend. The labels are Platt's (1999):
    (N₊ + 1) / (N₊ + 2) for deceptive and 1 / (N₋ + 2) for truthful, which keeps the map finite where suspicion
    separates the two. Newton's method.
    """
    yes = int(rows.deceptive.sum())
    surely, hardly = (yes + 1) / (yes + 2), 1 / (len(rows) - yes + 2)
    counts = rows.counts.sum(axis=0)
    expected = rows.counts[1] * surely + rows.counts[0] * hardly
    logits = logit(np.clip(rows.ties[0], CLIP, 1 - CLIP))
    share = float(logit(expected.sum() / len(rows)))
    if len(np.unique(logits)) < 2:
        return {"kind": "platt", "clip": CLIP, "slope": 0.0, "intercept": share}
    # standard units, in which the two parameters are all but apart
    centre = float(np.average(logits, weights=counts))
    spread = float(np.sqrt(np.average((logits - centre) ** 2, weights=counts)))
    design = np.stack([(logits - centre) / spread, np.ones(len(logits))])
    parameters = np.array([0.0, share])
    for _ in range(_STEPS):
        chance = expit(parameters @ design)
        information = (design * (counts * chance * (1 - chance))) @ design.T
        step = np.linalg.solve(information, design @ (expected - counts * chance))
        # far from the top a whole step may lead away from it
        parameters = parameters + step / max(1.0, float(np.abs(step).max()) / 2)
        if float(np.abs(step).max()) < 1e-10:
            break
    slope = float(parameters[0]) / spread
    return {"kind": "platt", "clip": CLIP, "slope": slope, "intercept": float(parameters[1]) - slope * centre}


def _isotonic(rows: Scored) -> Result:
    """Return the map of least squared error among those that never fall, drawn on as straight lines between the
    suspicions that it was fitted to.
    """
    from scipy.optimize import isotonic_regression

    counts = rows.counts.sum(axis=0)
    level = np.clip(isotonic_regression(rows.counts[1] / counts, weights=counts.astype(np.float64)).x, 0.0, 1.0)
    # within a level stretch only its ends matter
    ends = np.ones(len(level), bool)
    ends[1:-1] = (level[1:-1] != level[:-2]) | (level[1:-1] != level[2:])
    points = zip(rows.ties[0][ends].tolist(), level[ends].tolist(), strict=True)
    return {"kind": "isotonic", "points": [list(point) for point in points]}


def apply(fitted: Mapping[str, Any], scores: Array) -> Array:
    """Return the probabilities that a map makes of suspicions in [0, 1]."""
    mapped: Array
    if fitted["kind"] == "platt":
        clip = fitted["clip"]
        mapped = expit(fitted["slope"] * logit(np.clip(scores, clip, 1 - clip)) + fitted["intercept"])
    else:
        suspicions, probabilities = np.array(fitted["points"]).T
        mapped = np.interp(scores, suspicions, probabilities)
    return mapped


class FoldedAreas(Sums):
    """Sums for the area under the ROC curve over pairs of judgements of the same fold: pairs of two folds would be held
    against each other through two maps.

    Args:
        parts: sums of the scores of each fold.
    """

    areas = True

    def __init__(self, parts: list[ScoreSums]) -> None:
        super().__init__([{}], (), np.zeros((0, 0, 0)))
        self._parts = parts

    @property
    def total(self) -> Any:
        """The sums over all games, by fold."""
        return [part.total for part in self._parts]

    def by_unit(self, unit: Array, count: int) -> Array:
        """Return the sums of units, by unit and column; columns of the folds stand side by side."""
        matrices = [part.by_unit(unit, count) for part in self._parts]
        self._ends = np.cumsum([matrix.shape[1] for matrix in matrices])[:-1]
        return np.concatenate(matrices, axis=1)

    def parts(self, matrix: Array) -> Any:
        """Return the sums by fold."""
        columns = np.split(matrix, self._ends, axis=-1)
        return [part.parts(own_columns) for part, own_columns in zip(self._parts, columns, strict=True)]


def area_within_folds(folds: Any) -> Array:
    """Return the share of pairs of a deceptive and a truthful statement of the same fold in which the former scores
    higher, equal scores counted half; NaN without such a pair.
    """
    pairs = [roc_pairs(fold.counts) for fold in folds]
    return ratio(sum(won for won, _ in pairs), sum(n for _, n in pairs))


def _mapped(study: Study, kind: Kind) -> Array:
    """Return what a map of a kind, fitted on the other folds, makes of each suspicion."""

    def make() -> Array:
        dealt = held_out(study, "suspicion")
        mapped = np.empty(len(dealt.rows))
        for inside, fitted in dealt.folded(lambda others: fit(others, kind)):
            mapped[inside] = apply(fitted, dealt.rows.scores[inside])
        return mapped

    return study.cached(("mapped", kind), make)


def recalibration_rows(study: Study) -> Iterator[ResultRow]:
    """Yield Brier score, calibration error and AUC of suspicions as held-out maps make them (paper 5.7; metrics:
    Recalibration). Brier score and calibration error are over all folds together, the AUC over pairs of the same fold.
    Platt's map leaves the order of a fold as it is; an isotonic one makes ties. Those of suspicion as it is are Table
    4's. Maps are not fitted anew in draws: intervals tell what games were met, not what other games would have fitted.
    """
    dealt = held_out(study, "suspicion")
    folds = dealt.folds
    if folds is None:
        return
    for kind in KINDS:
        mapped = _mapped(study, kind)
        of_all = score_sums({}, dealt.rows.mapped(mapped), study.games)
        figures = {f"recalibrated_{name}": FIGURES[name] for name in ("brier", "ece")}
        yield from rows_of(study, EVERYBODY, of_all, figures, map=kind)
        parts = []
        for fold in range(FOLDS):
            inside = folds == fold
            parts.append(score_sums({}, dealt.rows.subset(inside).mapped(mapped[inside]), study.games))

        def n(folds: Any) -> Array:
            counts: Array = np.sum([fold.n for fold in folds], axis=0)
            return counts

        area = Figure(area_within_folds, n, "")
        yield from rows_of(study, EVERYBODY, FoldedAreas(parts), {"recalibrated_auc": area}, map=kind)


def recalibration(study: Study, results: Results) -> Result:
    """Return Platt and isotonic maps s → P(deceptive) and what they do (paper 5.7; metrics: Recalibration).

    ``platt`` and ``isotonic`` each have ``before`` and ``after``: ``brier ece auc n`` of the suspicions as they are,
    and as a map fitted on the other four folds of games makes them; ``reliability``, the curve of the latter, see
    `analytics.metrics.scores.reliability`; ``map``, the one fitted on all games, see `fit`. Both are None with a
    ``reason`` under 5 blocks of games, or where the games outside a fold have one label only. ``folds`` is 5 or then 0;
    ``blocks`` and ``games`` count those with judgements that count.
    """
    dealt = held_out(study, "suspicion")

    def section(kind: Kind) -> Result:
        before = {name: results.value(name, EVERYBODY) for name in ("brier", "ece", "auc")}
        after = {name: results.value(f"recalibrated_{name}", EVERYBODY, map=kind) for name in before}
        return {
            "before": {**before, "n": len(dealt.rows)},
            "after": {**after, "n": len(dealt.rows)},
            "map": fit(dealt.rows, kind),
            "reliability": reliability(dealt.rows.mapped(_mapped(study, kind))),
        }

    return {
        **{kind: section(kind) if dealt.folds is not None else None for kind in KINDS},
        "folds": 0 if dealt.folds is None else FOLDS,
        "blocks": dealt.blocks,
        "games": len(np.unique(dealt.rows.game)),
        "reason": dealt.reason,
    }
