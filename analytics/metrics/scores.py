"""Suspicion as a probability of deception: Table 4 and its curves (paper, sections 4.5 and 5.7).

Every figure depends on no more than how often each score stands on a deceptive and on a truthful statement. Suspicion
has few values, mostly two decimals. The value of all games is exact: there every distinct score is a cell. Units of
games have at most `CELLS` cells of whole tied scores. Nothing is lost up to as many distinct scores; with more, pairs
within a cell count half, and variants are moved by what that makes of the value of all (`Units.values`).
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any, Final, Literal, TypeAlias

import numpy as np
import polars as pl

from analytics import Result
from analytics.metrics import formulas
from analytics.metrics.detection import CLASSES, CLEAN
from analytics.metrics.formulas import BINS, Array, Formula, Parts, bins_of
from analytics.metrics.study import Family, Scope, Study, rows_of
from analytics.metrics.sums import Figure, Sums
from analytics.results import EVERYBODY, PAIRS, Group, ResultRow

Score: TypeAlias = Literal["suspicion", "before"]
"""What is held against self-labels: the suspicion s of a judgement, or D of observer and speaker before it."""
Truth: TypeAlias = Literal["label", "wolf"]
"""What scores are held against: the statement's self-label, or whether its speaker is a Werewolf."""
SCORES: Final[tuple[Score, ...]] = ("suspicion", "before")
SUFFIX: Final[Mapping[Score, str]] = {"suspicion": "", "before": "_before"}

CELLS: Final = 256


@dataclass(frozen=True, eq=False)
class Scored:
    """Judgements that count and whose statement is known to be deceptive or not, in ascending order of their scores.

    A judgement without a suspicion, as in a foreign log that has flags only, is left out of "suspicion". "before" is
    there for all: what smoothed suspicion (4.1) foretold before the statement was judged.

    Attributes:
        scores: what is taken for P(deceptive), in [0, 1].
        deceptive: the speaker calls the statement deceptive; or is a Werewolf, where the role is what is asked about.
        flags: the observer does.
        game: game of each.
    """

    scores: Array
    deceptive: Array
    flags: Array
    game: Array

    def __len__(self) -> int:
        return len(self.scores)

    def subset(self, rows: Array) -> Scored:
        """Return some of the judgements; by places, they must be in ascending order of scores."""
        return Scored(self.scores[rows], self.deceptive[rows], self.flags[rows], self.game[rows])

    def mapped(self, scores: Array) -> Scored:
        """Return the same judgements with other scores."""
        order = np.argsort(scores, kind="stable")
        return Scored(scores[order], self.deceptive[order], self.flags[order], self.game[order])

    @cached_property
    def ties(self) -> tuple[Array, Array]:
        """The distinct scores, ascending, and the place of each judgement's among them."""
        values, rank = np.unique(self.scores, return_inverse=True)
        return values, rank

    @cached_property
    def counts(self) -> Array:
        """Judgements of truthful and of deceptive statements at each distinct score."""
        values, rank = self.ties
        counts: Array = np.bincount(self.deceptive * len(values) + rank, minlength=2 * len(values))
        return counts.reshape(2, len(values))

    def one_sided(self) -> str | None:
        """Return why nothing that compares deceptive statements with truthful ones is defined; None if it is."""
        if not len(self):
            return "no judgement counts whose statement has a self-label that counts"
        if not self.deceptive.any():
            return "every statement judged is labelled truthful: there is nothing to tell apart"
        if self.deceptive.all():
            return "every statement judged is labelled deceptive: there is nothing to tell apart"
        return None


def scored(frame: pl.DataFrame, score: str, truth: Truth = "label") -> Scored:
    """Return those rows, judgements or others, that have a score and of which the truth is known, in the order of the
    score; where nobody flags anything, the truth stands for the flags.
    """
    rows = frame.filter(pl.col(truth).is_not_null() & pl.col(score).is_not_null())
    # a negative zero becomes an ordinary one
    scores = rows[score].cast(pl.Float64).to_numpy() + 0.0
    order = np.argsort(scores, kind="stable")
    flagged = "flagged" if "flagged" in rows.columns else truth

    def ordered(name: str) -> Array:
        return rows[name].to_numpy()[order].astype(np.int64)

    return Scored(scores[order], ordered(truth), ordered(flagged), ordered("game"))


def cells_of(counts: Array) -> Array:
    """Return the cell of each distinct score; where cells hold several scores, they hold about equal counts.

    Args:
        counts: judgements at each score, scores ascending.
    """
    if len(counts) <= CELLS:
        return np.arange(len(counts))
    cells: Array = (np.cumsum(counts) - counts) * CELLS // counts.sum()
    return cells


@dataclass(frozen=True, eq=False)
class Division:
    """How scores are divided: distinct scores, ascending, and where each belongs.

    Attributes:
        values: the scores.
        place: of each.
    """

    values: Array
    place: Array

    @classmethod
    def of(cls, sets: Sequence[Scored], divide: Callable[[Array], Array]) -> Division:
        """Return how `divide` divides the scores of several sets together, by how often each is there."""
        values, counts = np.unique(np.concatenate([scored_rows.scores for scored_rows in sets]), return_counts=True)
        return cls(values, divide(counts))

    def __call__(self, scores: Array) -> Array:
        """Return where scores belong."""
        places: Array = self.place[np.searchsorted(self.values, scores)]
        return places

    @property
    def count(self) -> int:
        """How many places there are."""
        return int(self.place.max(initial=-1)) + 1


class ScoreParts(SimpleNamespace):
    """Named sums of scores, with what several figures are formulas of."""

    @cached_property
    def average_precision(self) -> Array:
        """See `analytics.metrics.formulas.average_precision`; it is dear, and two figures need it."""
        return formulas.average_precision(self.counts)


class ScoreSums(Sums):
    """Sums of scores of one group, by game; see `analytics.metrics.formulas` for their names.

    Args:
        group: whose they are.
        rows: the judgements.
        games: number of games.
        cells: how scores are divided in units.
        bins: their calibration bins.
        beside: see `Sums`.
    """

    areas = True

    def __init__(
        self,
        group: Group,
        rows: Scored,
        games: int,
        cells: Division,
        bins: Division,
        beside: Mapping[str, Figure] | None = None,
    ) -> None:
        super().__init__([group], (), np.zeros((0, 0, 0)), beside)
        self._rows = rows
        self._games = games
        self._cells = cells
        self._bins = bins

    def within(self, groups: Sequence[Group]) -> Sums:
        """Return it: it is of one group, which is among those asked for."""
        return self if self.groups[0] in groups else super().within(groups)

    def parts(self, matrix: Array) -> Parts:
        """Return the named sums; those of counts and of bins have axes of their own, behind that of the group."""
        before, missed = matrix.shape[:-1], matrix[..., :1]
        bins = matrix[..., 1 : 1 + 3 * BINS].reshape(*before, 1, 3, BINS).swapaxes(-1, -2)
        counts = matrix[..., 1 + 3 * BINS :].reshape(*before, 1, 2, self._cells.count)
        return ScoreParts(
            missed=missed, bins=bins, counts=counts, n=bins[..., 2].sum(axis=-1), deceptive=bins[..., 1].sum(axis=-1)
        )

    @property
    def total(self) -> Parts:
        """The sums over all games, with every distinct score a cell of its own."""
        rows = self._rows
        exact = self.parts(self._matrix(np.zeros(len(rows), np.int64), 1)[0])
        exact.counts = rows.counts[None].astype(np.float64)
        # of ties together, so that the order of judgements leaves no trace
        truthful, deceptive = rows.counts
        exact.missed = np.array([(deceptive * (1 - rows.ties[0]) ** 2 + truthful * rows.ties[0] ** 2).sum()])
        return exact

    @property
    def by_game(self) -> Parts:
        """The sums of every game, with every distinct score of a game a cell of its own."""
        rows, games = self._rows, self._games
        exact = self.parts(self._matrix(rows.game, games))
        values, rank = rows.ties
        ties, row = np.unique(rows.game * max(1, len(values)) + rank, return_inverse=True)
        game = ties // max(1, len(values))
        place = np.arange(len(ties)) - np.searchsorted(game, game)
        size = int(place.max(initial=0)) + 1
        cell = (game[row] * 2 + rows.deceptive) * size + place[row]
        exact.counts = np.bincount(cell, minlength=games * 2 * size).reshape(games, 1, 2, size)
        return exact

    def by_unit(self, unit: Array, count: int) -> Array:
        """Return the sums of units, by unit and column."""
        return self._matrix(unit[self._rows.game], count)

    def _matrix(self, unit: Array, count: int) -> Array:
        inside = unit >= 0
        rows, unit = self._rows.subset(inside), unit[inside]
        width = self._cells.count
        matrix = np.zeros((count, 1 + 3 * BINS + 2 * width), np.float64)
        matrix[:, 0] = np.bincount(unit, (rows.scores - rows.deceptive) ** 2, count)
        bins = unit * BINS + self._bins(rows.scores)
        for place, weights in enumerate((rows.scores, rows.deceptive, None)):
            columns = slice(1 + place * BINS, 1 + (place + 1) * BINS)
            matrix[:, columns] = np.bincount(bins, weights, count * BINS).reshape(count, BINS)
        cell = (unit * 2 + rows.deceptive) * width + self._cells(rows.scores)
        matrix[:, 1 + 3 * BINS :] = np.bincount(cell, minlength=count * 2 * width).reshape(count, 2 * width)
        return matrix


def score_sums(group: Group, rows: Scored, games: int) -> ScoreSums:
    """Return the sums of some judgements, with cells and bins of their own."""
    return ScoreSums(group, rows, games, Division.of([rows], cells_of), Division.of([rows], bins_of))


def scores(
    score: Score, scope: Scope, by: str = "observer_role", axis: str = "role", truth: Truth = "label"
) -> Iterator[Sums]:
    """Yield sums of a score, of all and by role of the observer unless told otherwise.

    Args:
        score: which score.
        scope: whose judgements count.
        by: the column of the role.
        axis: what groups are told apart by.
        truth: what it is held against.
    """
    study, frame = scope.study, scope.judged
    whole = _whole(score, study, truth)
    sets = [whole, *([] if scope.beside is None else [_whole(score, scope.beside, truth)])]
    cells = study.cached(("cells", score, truth, id(scope.beside)), lambda: Division.of(sets, cells_of))
    common = None
    if scope.agent is not None or not scope.own_bins:
        # what is held against each other has the bins of all together
        studies = [study] if scope.own_bins or scope.beside is None else [study, scope.beside]
        common = Division.of([scored(Scope(other, scope.observers).judged, score, truth) for other in studies], bins_of)
    for role in (None, *study.roles):
        rows = scored(frame if role is None else frame.filter(pl.col(by) == role), score, truth)
        own_bins = Division.of([rows], bins_of) if common is None else common
        yield ScoreSums(
            {} if role is None else {axis: role},
            rows,
            study.games,
            cells,
            own_bins,
            _BESIDE[score] if truth == "label" else {},
        )


def _whole(score: Score, study: Study, truth: Truth = "label") -> Scored:
    return study.cached(("scored", score, truth), lambda: scored(study.judged, score, truth))


_UNJUDGED: Final = "no judgement counts whose statement has a self-label"


def _figure(value: Formula, reason: str, baseline: Formula | None = None) -> Figure:
    return Figure(value, lambda s: s.n, reason, baseline)


def _of_both(value: Formula, reason: str, baseline: Formula | None = None, lowest: float = 0.0) -> Figure:
    """Return a figure that is undefined without both deceptive and truthful statements."""
    sides = (lambda s: s.deceptive, lambda s: s.n - s.deceptive)
    return Figure(value, lambda s: s.n, reason, baseline, sides=sides, lowest=lowest)


def _constant(value: float) -> Formula:
    return lambda s: 0.0 * s.n + value


FIGURES: Final[Mapping[str, Figure]] = {
    "auc": _of_both(formulas.auc, CLASSES, _constant(0.5)),
    "auprc": _of_both(formulas.auprc, CLASSES, formulas.deceptive_share),
    "auprc_lift": _of_both(formulas.auprc_lift, CLASSES, _constant(0), lowest=-1.0),
    "brier": _figure(formulas.brier, _UNJUDGED, formulas.constant_brier),
    "brier_skill": _of_both(formulas.brier_skill, CLASSES, _constant(0), lowest=-np.inf),
    "ece": _figure(formulas.calibration_error, _UNJUDGED),
}
"""What is told of scores (metrics: Table 4)."""
FAMILIES: Final[Mapping[Score, Family]] = {score: partial(scores, score) for score in SCORES}
OF_ROLES: Final[Family] = partial(scores, "suspicion", truth="wolf")
"""Suspicion of what Werewolves say against what the others say, whatever they call it."""
ROLE_AUC: Final = _of_both(
    formulas.auc, "there are no judged statements both of Werewolves and of others", _constant(0.5)
)
_BESIDE: Final[Mapping[Score, Mapping[str, Figure]]] = {
    score: {
        f"{name}{SUFFIX[score]}": figure
        for name, figure in {
            **FIGURES,
            "scored": Figure(lambda s: s.n),
            "scored_deceptive": Figure(lambda s: s.deceptive),
        }.items()
    }
    for score in SCORES
}


def score_rows(study: Study) -> Iterator[ResultRow]:
    """Yield what the headline metrics do not hold: Table 4 by role of the speaker."""
    for score in SCORES:
        for sums in scores(score, Scope(study, EVERYBODY), "target_role", "target"):
            if sums.groups != [{}]:
                yield from rows_of(study, EVERYBODY, sums, sums.beside)


def clean_score_rows(study: Study) -> Iterator[ResultRow]:
    """Yield the AUC of judgements and self-labels that were accepted as they stood (metrics: repair report)."""
    for observers in PAIRS:
        clean = score_sums({}, scored(Scope(study, observers).judged.filter(CLEAN), "suspicion"), study.games)
        bare = {"clean_auc": replace(FIGURES["auc"], has_interval=False), "clean_scored": Figure(lambda s: s.n)}
        yield from rows_of(study, observers, clean, bare)


# -- curves

POINTS: Final = 200
"""Points of a curve that are kept at most."""
TOLERANCE: Final = 0.002
"""How far the drawn line may be from a point that is left out, in the units of both axes: 1 is the whole axis."""
_COARSE: Final = 0.0005
"""Length of the steps that are left out before anything is compared, which bounds the work."""


def by_role(study: Study, score: Score, figure: Callable[[Scored], Any], sides: Sequence[str]) -> Result:
    """Return what is no number of all judgements that count, and of each role's on either side.

    Args:
        study: the games.
        score: which score.
        figure: of some judgements.
        sides: of "observer" and "speaker".
    """
    frame = study.judged
    columns = {side: "observer_role" if side == "observer" else "target_role" for side in sides}
    return {"overall": figure(_whole(score, study))} | {
        f"by_{side}": {role: figure(scored(frame.filter(pl.col(column) == role), score)) for role in study.roles}
        for side, column in columns.items()
    }


def reliability(rows: Scored) -> list[Result]:
    """Return the reliability curve, a row a bin in ascending order (paper 4.5; metrics: Table 4).

    Each has ``low`` and ``high``, the least and the greatest score in it, ``mean_score``, ``share`` of its judgements
    whose statement is deceptive, and ``n``. A bin that nothing falls into does not exist; see `bins_of`.
    """
    values, counts = rows.ties[0], rows.counts.sum(axis=0)
    place = bins_of(counts)
    curve_bins: list[Result] = []
    for bin_ in np.unique(place).tolist():
        inside = place == bin_
        n, low, high = int(counts[inside].sum()), float(values[inside][0]), float(values[inside][-1])
        mean = float((values[inside] * counts[inside]).sum() / n)
        curve_bins.append(
            {
                "low": low,
                "high": high,
                # rounding may carry the mean of equal scores beyond them
                "mean_score": min(high, max(low, mean)),
                "share": float(rows.counts[1, inside].sum() / n),
                "n": n,
            }
        )
    return curve_bins


def curve(rows: Scored) -> Result:
    """Return both curves of some judgements, empty with a ``reason`` unless statements of both labels were judged.

    - ``roc``: [false-positive rate, true-positive rate, threshold], from (0, 0) to (1, 1). A statement counts as
      flagged when its score is at least the threshold; the first point flags nothing, and its threshold is None.
    - ``pr``: [recall, precision, threshold], from recall 0 to 1. The first point flags nothing: its threshold is None,
      and its precision is set to 1.
    - ``auc`` and ``auprc`` are those of the whole curves; ``base_rate`` is the precision of flags that tell nothing.
    - ``moved``: how far the thinned curves are from the whole ones at most; see `thinned`.
    """
    reason = rows.one_sided()
    counts = rows.counts[None].astype(np.float64)
    result: Result = {
        "n": len(rows),
        "roc": [],
        "pr": [],
        "auc": None if reason else float(formulas.roc_area(counts)[0]),
        "auprc": None if reason else float(formulas.average_precision(counts)[0]),
        "base_rate": float(rows.deceptive.mean()) if len(rows) else None,
        "moved": None,
        "reason": reason,
    }
    if reason is None:
        thresholds = rows.ties[0][::-1]
        honest, deceptive = rows.counts
        alarms, hits = np.cumsum(honest[::-1]), np.cumsum(deceptive[::-1])
        # points within a straight stretch tell nothing
        bends = np.ones(len(hits), bool)
        bends[1:-1] = (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0)
        false = np.concatenate([[0.0], alarms[bends] / alarms[-1]])
        right = np.concatenate([[0.0], hits[bends] / hits[-1]])
        result["roc"], off = _points(false, right, thresholds[bends])
        recall, precision = np.concatenate([[0.0], hits / hits[-1]]), np.concatenate([[1.0], hits / (hits + alarms)])
        result["pr"], off_too = _points(recall, precision, thresholds)
        result["moved"] = max(off, off_too)
    return result


def curves(study: Study) -> Result:
    """Return the curves (paper 4.5; metrics: Thresholds), for suspicion and for D before the statement; ``overall`` and
    ``by_observer`` (by role), as `curve` describes.
    """
    return {score: by_role(study, score, curve, ("observer",)) for score in SCORES}


def _points(x: Array, y: Array, thresholds: Array) -> tuple[list[list[float | None]], float]:
    """Return the thinned points of a curve whose first point has no threshold."""
    chosen, moved = thinned(x, y)
    cutoffs: list[float | None] = [None, *thresholds[chosen[1:] - 1].tolist()]
    return [[*point] for point in zip(x[chosen].tolist(), y[chosen].tolist(), cutoffs, strict=True)], moved


def thinned(x: Array, y: Array) -> tuple[Array, float]:
    """Return which points of a line to keep, and how far the line through them is from the whole
    one.

    The ends stay; then the point farthest from the line joins it (as in Douglas and Peucker's
    algorithm), until none is farther than `TOLERANCE` or there are `POINTS`. So a line of a few
    hundred large steps, as a few hundred judgements with distinct scores give, may be off by more
    than the tolerance; the distance returned tells.

    Args:
        x: finite numbers.
        y: as many.
    """
    everything = np.arange(len(x))
    if len(x) <= POINTS:
        return everything, 0.0
    distance = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    step = np.floor(distance / _COARSE)
    coarse = np.flatnonzero(np.concatenate([[True], step[1:] != step[:-1]]))
    if coarse[-1] != len(x) - 1:
        coarse = np.append(coarse, len(x) - 1)
    chosen = coarse[_farthest_first(x[coarse], y[coarse])]
    piece = np.clip(np.searchsorted(chosen, everything, side="right") - 1, 0, len(chosen) - 2)
    ends = chosen[piece], chosen[piece + 1]
    return chosen, float(_distance(x, y, (x[ends[0]], y[ends[0]]), (x[ends[1]], y[ends[1]])).max())


def _farthest_first(x: Array, y: Array) -> Array:
    last = len(x) - 1
    chosen = {0, last}
    waiting: list[tuple[float, int, int, int]] = []

    def weigh(start: int, end: int) -> None:
        if end - start > 1:
            inner = slice(start + 1, end)
            distance = _distance(x[inner], y[inner], (x[start], y[start]), (x[end], y[end]))
            index = int(distance.argmax())
            heapq.heappush(waiting, (-float(distance[index]), start + 1 + index, start, end))

    weigh(0, last)
    while waiting and len(chosen) < POINTS and -waiting[0][0] > TOLERANCE - _COARSE:
        _, middle, start, end = heapq.heappop(waiting)
        chosen.add(middle)
        weigh(start, middle)
        weigh(middle, end)
    return np.array(sorted(chosen))


def _distance(x: Array, y: Array, start: tuple[Array, Array], end: tuple[Array, Array]) -> Array:
    """Return the distance of points from a stretch of line, its ends included."""
    across, up = end[0] - start[0], end[1] - start[1]
    length = across * across + up * up
    part = ((x - start[0]) * across + (y - start[1]) * up) / np.where(length > 0, length, 1.0)
    part = np.clip(part, 0.0, 1.0)
    distance: Array = np.hypot(x - start[0] - part * across, y - start[1] - part * up)
    return distance
