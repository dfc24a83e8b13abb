"""`Study`: any number of games, with what all figures of them share; and the headline metrics over
them (paper, section 5.9; metrics: variability).

`variability`: every headline metric with its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from analytics import Result
from analytics.measures.bootstrap import Draws, Interval, draws_of, estimate, undefined
from analytics.measures.formulas import BINS, bins_of, number, rate_of_games
from analytics.measures.frames import ALL, HEADLINES, OVER, UNINFORMED, Frame, Pairs
from analytics.measures.headlines import MEASURES, SCORES, Area, Measure, Score, evaluate, measures_of
from analytics.measures.scores import Scores, cells_of, recentred, scores_of
from analytics.measures.summing import Rows, add_sums, constant
from analytics.measures.sums import Estimates, Sums
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array, Columns
    from analytics.measures.scores import Cells

Made = TypeVar("Made")


class Study:
    """Columns, their scores and their sums, each computed once.

    Args:
        columns: the games.
        other: a study whose distinct scores share this one's cells, so that histograms may be subtracted.
        own_bins: whether calibration bins are this study's own all the same.
    """

    def __init__(self, columns: Columns, other: Study | None = None, *, own_bins: bool = True) -> None:
        self.columns = columns
        self._other = other
        self._own_bins = own_bins
        self._cache: dict[Hashable, Any] = {}

    def cached(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what several figures of these games share, made when it is first asked for."""
        if key not in self._cache:
            self._cache[key] = make()
        value: Made = self._cache[key]
        return value

    def scores(self, score: Score) -> Scores:
        """Return the judgements that count, in ascending order of a score."""
        return self.cached(("scores", score), lambda: scores_of(self.columns, score))

    def cells(self, score: Score) -> Cells:
        """Return the cell of each distinct score, and the number of cells."""

        def compute() -> Cells:
            all_cells, cells = self._merged(score, cells_of)
            return cells, int(all_cells.max(initial=0)) + 1

        return self.cached(("cells", score), compute)

    def _merged(self, score: Score, divide: Callable[[Array], Array], pairs: Pairs = ALL) -> tuple[Array, Array]:
        """Return how `divide` divides the distinct scores of both studies together, and of this one
        among them.
        """
        import numpy as np

        sets = [self.scores(score), *([] if self._other is None else [self._other.scores(score)])]
        values = np.unique(np.concatenate([scores.values for scores in sets]))
        counts = np.zeros(len(values), np.int64)
        for scores in sets:
            counts[np.searchsorted(values, scores.values)] += scores.totals_over(pairs)
        divided = divide(counts)
        return divided, divided[np.searchsorted(values, sets[0].values)]

    @cached_property
    def estimates(self) -> Estimates:
        """The sums of the games, errors and calibration bins of scores among them."""
        import numpy as np

        sums = Sums()
        add_sums(sums, self.columns)
        for score in SCORES:
            scores = self.scores(score)
            table = {"game": scores.games, "informed": scores.informed, "agent": scores.agent, "role": scores.observer}
            score_axis, ones = constant(score, scores.games), np.ones(len(scores.games))
            Rows(sums, self.columns, table).put(
                *("error", "informed agent role", score_axis),
                square=(scores.scores - scores.deceptive) ** 2,
                n=ones,
                deceptive=scores.deceptive,
            )
            for pairs in OVER:
                bins = self._bins(score, pairs)[scores.rank]
                Rows(sums, self.columns, table).put(
                    *("bins", "agent", (bins, range(BINS)), constant(pairs, scores.games), score_axis),
                    among=scores.over(pairs),
                    stated=scores.scores,
                    deceptive=scores.deceptive,
                    n=ones,
                )
        return Estimates(sums)

    def _bins(self, score: Score, pairs: Pairs) -> Array:
        """Return the calibration bin of each distinct score, by the judgements of some pairs."""
        if self._own_bins:
            return bins_of(self.scores(score).totals_over(pairs))
        return self._merged(score, bins_of, pairs)[1]

    @property
    def blocks(self) -> int:
        """Number of blocks of games."""
        return len(self.columns.block_names)


class Sheet:
    """The headline metrics of some units: of their total, of each, of draws.

    Args:
        study: the games.
        units: unit of each game, -1 for one left out; games unless given.
        count: number of units.
        agent: only what this agent does counts: its judgements, statements, votes, seats.
        pairs: over which pairs of observer and target.
    """

    def __init__(
        self,
        study: Study,
        units: Array | None = None,
        count: int | None = None,
        agent: str | None = None,
        pairs: Pairs = UNINFORMED,
    ) -> None:
        import numpy as np

        self.study = study
        self.agent = agent
        self.pairs: Pairs = pairs
        self._units = np.arange(len(study.columns.ids)) if units is None else units
        self.count = len(self._units) if count is None else count

    @cached_property
    def total(self) -> Frame:
        """The sums over all units; all games must be in some unit."""
        return self.study.estimates.total.select(agent=self.agent, **OVER[self.pairs])

    @cached_property
    def frame(self) -> Frame:
        """The sums of every unit."""
        return self.study.estimates.by_unit(self._units, self.count).select(agent=self.agent, **OVER[self.pairs])

    def mask(self, score: Score, role: str | None = None) -> Array:
        """Return which of a score's judgements count, by observers of one role if given."""
        scores = self.study.scores(score)
        mask = scores.over(self.pairs)
        if self.agent is not None:
            mask &= scores.agent == self.study.columns.agents.index(self.agent)
        if role is not None:
            mask &= scores.observer == ROLES.index(role)
        return mask

    def histogram(self, score: Score, role: str) -> Array:
        """Return counts of a score by observers of a role, units by (class, cell)."""
        scores = self.study.scores(score)
        return scores.histogram(self.study.cells(score), self._units[scores.games], self.count, self.mask(score, role))

    def pooled(self, measures: Iterable[Measure]) -> dict[str, float]:
        """Return the pooled value of each metric, exact; NaN where it is undefined."""
        values = self._exact(measures, self.total, lambda scores, mask: scores.counts(mask))
        return {name: float(value) for name, value in values.items()}

    def by_game(self, measures: Iterable[Measure]) -> dict[str, Array]:
        """Return each metric of every game, exact, NaN where undefined; units must be the games in
        their order.
        """
        return self._exact(measures, self.frame, lambda scores, mask: scores.by_game(self.count, mask))

    def _exact(
        self, measures: Iterable[Measure], frame: Frame, counts: Callable[[Scores, Array], Array]
    ) -> dict[str, Array]:
        """Return each metric of sums, and of counts that are made of scores and of which of them count."""
        return {
            measure.name: value(counts(self.study.scores(value.score), self.mask(value.score, value.role)))
            if isinstance(value, Area)
            else value(frame)
            for measure, value in ((measure, measure.value) for measure in measures)
        }

    def drawn(self, measures: Sequence[Measure], draws: Draws) -> dict[str, Array]:
        """Return each metric in every draw of the units, NaN where it is undefined."""
        return self.varied(measures, draws.sums)[0]

    def varied(
        self, measures: Sequence[Measure], vary: Callable[[Array], Array]
    ) -> tuple[dict[str, Array], dict[str, Array]]:
        """Return each metric, and the baseline of each that has one, in variants of the units' sums,
        NaN where undefined.

        Areas are moved by what the cells of histograms make of the pooled value (nothing if each
        distinct score has its own).

        Args:
            measures: the metrics.
            vary: makes variants, by column, of what it is given by unit and column.
        """
        import numpy as np

        pooled_cells: dict[tuple[Score, str], Array] = {}

        def cells(score: Score, role: str) -> Array:
            matrix = self.histogram(score, role)
            pooled_cells[score, role] = matrix.sum(axis=0, dtype=np.float64)
            return vary(matrix)

        matrix, back = self.frame.stacked(HEADLINES)
        frame = back(vary(matrix))
        values = evaluate(measures, frame, cells)
        areas = [measure for measure in measures if isinstance(measure.value, Area)]
        coarse = evaluate(areas, self.total, lambda score, role: pooled_cells[score, role])
        for name, exact in self.pooled(areas).items():
            lowest = -1 if MEASURES[name].unit == "points" else 0
            values[name] = recentred(values[name], number(exact), coarse[name], lowest)
        baselines = {measure.name: measure.baseline(frame) for measure in measures if measure.baseline is not None}
        return values, baselines

    def nonempty(self, measures: Iterable[Measure]) -> dict[str, int]:
        """Return for each metric in how many units there is anything that it is over."""
        return {measure.name: int((measure.n(self.frame) > 0).sum()) for measure in measures}

    def estimates(self, measures: Sequence[Measure]) -> dict[str, Result]:
        """Return each metric as an estimate, with the number of draws of the units in which it is undefined."""
        draws = draws_of(self.count)
        values, drawn, nonempty = self.pooled(measures), self.drawn(measures, draws), self.nonempty(measures)
        return {
            name: {
                **estimate(
                    *(values[name], round(float(measure.n(self.total)))),
                    self._rate(measure) if measure.games else draws.interval(drawn[name], nonempty[name]),
                    measure.reason,
                ),
                "undefined_draws": undefined(drawn[name]),
            }
            for name, measure in ((measure.name, measure) for measure in measures)
        }

    def _rate(self, measure: Measure) -> Interval:
        """Return the interval of a rate of games, the units being blocks."""
        import numpy as np

        if isinstance(measure.value, Area):
            raise TypeError(f"{measure.name} is no rate")
        n = measure.n(self.frame)
        k = np.where(n > 0, np.nan_to_num(measure.value(self.frame)) * n, 0.0)
        # an agent's seats on one side of a game win or lose together
        by_game = measure.n(Sheet(self.study, agent=self.agent, pairs=self.pairs).frame)
        square = float((by_game**2).sum())
        return rate_of_games(k, n, float(by_game.sum()) ** 2 / square if square else 0.0)


def describe(measure: Measure, total: Frame) -> Result:
    """Return a metric's label, unit, better end and baseline over the games that `total` sums."""
    baseline = None if measure.baseline is None else number(measure.baseline(total))
    return {
        "label": measure.label,
        "unit": measure.unit,
        "better": measure.better,
        "baseline": baseline,
        "baseline_label": None if baseline is None else measure.baseline_label,
    }


def variability(study: Study, names: Iterable[str] | None = None) -> Result:
    """Return every headline metric with a 95 % interval (paper 5.9; metrics: variability).

    ``value`` is pooled over games. ``low`` and ``high`` are the bootstrap's: 2,000 draws with a
    fixed seed resample whole blocks and recompute the pooled value from summed counts; the
    quantiles allow for few blocks, see `analytics.measures.bootstrap.tail_of`. ``undefined_draws``
    counts the draws in which it is undefined; above 5 % there is no interval, nor below five blocks
    that have anything to do with the metric, nor where every draw gives the same. Rates of games
    have Wilson's interval instead (`analytics.measures.formulas.rate_of_games`), the one that
    stands beside the winners. Point estimates and
    values of single games are exact; in draws, areas under curves come from histograms (see
    `analytics.measures.scores`), and the calibration error keeps to the bins of all games; like any
    calibration error it is biased upwards in draws, so its interval may lie above its value.

    A ``*_lift`` is a metric minus its baseline, both computed anew in every draw: only its interval
    tells whether the baseline, which is estimated from the same games, is beaten. The better
    constant guess is known with hindsight only: where classes are about even, the chance that makes
    it look better pulls a lift a little below 0.

    ``paper_mean`` ± ``paper_half`` is the paper's way: mean and 1.96 SEM over the ``paper_games``
    in which the metric is defined; a game of few rows weighs as much as one of many. A metric that
    is held against a maximum over each game has none.

    What is over pairs of observer and target is over the uninformed ones, for whoever knows whether
    somebody is a Werewolf detects nothing (`analytics.measures.frames`). ``all_observers`` beside it
    is over all pairs, as the paper's figures are, and ``paper_mean`` is, too.
    ``raw_suspicion_gap`` is of suspicion as it was given, ``suspicion_gap`` of final D.
    ``lie_rate``, ``mistake_rate``, ``confession_rate``, ``coverage`` and ``truth_*`` rest on statements with a
    checkable claim; detection against truth is of lies among lies and true statements, whatever
    the self-label; mistakes deceive nobody knowingly and are left out.

    Args:
        study: the games.
        names: of the metrics; all unless given.

    Raises:
        KeyError: there is no such metric.
    """
    measures = measures_of(names)
    columns = study.columns
    sheet = Sheet(study, columns.blocks, study.blocks)
    everybody = Sheet(study, columns.blocks, study.blocks, pairs=ALL)
    estimated, by_game = sheet.estimates(measures), Sheet(study, pairs=ALL).by_game(measures)
    over_all = everybody.estimates([measure for measure in measures if measure.pairs])
    games = len(columns.ids)
    rows = {}
    for measure in measures:
        row = estimated[measure.name]
        undefined_draws = row.pop("undefined_draws")
        rows[measure.name] = {
            **describe(measure, sheet.total),
            **row,
            "games": games,
            "undefined_draws": undefined_draws,
            **(
                {"all_observers": {**describe(measure, everybody.total), **over_all[measure.name]}}
                if measure.pairs
                else {}
            ),
            **_paper(by_game[measure.name] if measure.by_game else by_game[measure.name][:0]),
        }
    return {
        "metrics": rows,
        "draws": draws_of(study.blocks).draws,
        "blocks": study.blocks,
        "games": games,
        "block_kind": "game" if study.blocks == games else "block",
    }


def _paper(values: Array) -> Result:
    import numpy as np

    defined = values[~np.isnan(values)]
    n = len(defined)
    return {
        "paper_mean": float(defined.mean()) if n else None,
        "paper_half": float(1.96 * defined.std(ddof=1) / np.sqrt(n)) if n > 1 else None,
        "paper_games": n,
    }
