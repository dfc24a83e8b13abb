"""`primary`: the few metrics that a study was to be judged by, tested and adjusted together (metrics:
verdicts). Whatever else the findings hold is exploratory.

Under the hypothesis that a metric is no better and no worse than its baseline, what a block of games
adds to their difference might as well have come with the other sign. So the signs of blocks are
flipped, every way or ten thousand drawn ways, those of all metrics together. A metric's statistic is
the sum of its blocks' parts over the root of their squares; p-values are adjusted by the greatest
statistic of each flip (`max_t`). Parts of blocks come from leaving
one block out at a time.

``best_detector`` and ``best_deceiver`` ask whether the first agent in AUC of suspicion against the role, or in
concealment, is ahead of the second: their statistic is how far whoever is first in a flip is ahead of the second.

`Rearrangements` are permutation tests: what the difference would be had the sides been dealt otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations, product
from math import comb, isfinite, isnan
from typing import Any, Final, Literal, TypeAlias

import numpy as np

from analytics import Result
from analytics.metrics.abilities import DETECTION, ability_lead, ranked
from analytics.metrics.bootstrap import SEED, TELLING, UNDEFINED_SHARE, draws_of
from analytics.metrics.formulas import Array
from analytics.metrics.headlines import HEADLINES, Headline, by_sums, varied
from analytics.metrics.study import Scope, Study, Units, counted_units, figure_row, tells
from analytics.results import UNINFORMED, defined
from wolfbus.errors import ConfigError

PERMUTATIONS: Final = 10_000
"""Rearrangements drawn; where there are no more than that, each is taken once."""

EQUAL: Final = 1e-9
"""Differences by less are none: what should be 0 is another number in its last bits."""
_AT_ONCE: Final = 4_000_000
_PART: Final = 2_500


class Rearrangements:
    """Which units change sides in each rearrangement; the first row leaves all where they are.

    Each pair is swapped or not; units of one side alone are dealt anew, as many to each side as
    there were.

    Args:
        pairs: pairs.
        only_a: units of A alone.
        only_b: units of B alone.
        permutations: rearrangements to draw, unless there are no more than that.

    Attributes:
        exact: every rearrangement is there once.
        count: rearrangements, without the first row.
    """

    def __init__(self, pairs: int, only_a: int = 0, only_b: int = 0, permutations: int = PERMUTATIONS) -> None:
        self.units = pairs + only_a + only_b
        dealings = comb(only_a + only_b, only_a)
        # the powers of a large number of pairs need not be computed to be seen as too many
        self.exact = pairs < 64 and 2**pairs * dealings <= permutations
        self._mirrored = only_a == only_b
        stay = np.zeros((1, self.units), np.uint8)
        if self.exact:
            swaps = list(_every(pairs, only_a, only_b))
            rows = np.array(swaps, np.uint8).reshape(len(swaps), self.units)
            parts = [np.packbits(np.concatenate([stay, rows]), axis=1)]
        else:
            parts = [np.packbits(stay, axis=1)]
            generator = np.random.default_rng(SEED)
            step = max(1, _AT_ONCE // max(1, self.units))
            sides = np.repeat(np.array([0, 1], np.uint8), [only_a, only_b])
            for first in range(0, permutations, step):
                drawn = min(step, permutations - first)
                swapped = generator.integers(0, 2, size=(drawn, pairs), dtype=np.uint8)
                dealt = generator.permuted(np.tile(sides, (drawn, 1)), axis=1) ^ sides
                parts.append(np.packbits(np.concatenate([swapped, dealt], axis=1), axis=1))
        self._bits = np.concatenate(parts)
        self.count = len(self._bits) - 1

    @property
    def lowest_p(self) -> float:
        """The smallest p-value that these rearrangements can give: that of one arrangement, and, where all of it
        exchanges the sides, of its mirror image.
        """
        if not self.exact:
            return 1 / (self.count + 1)
        return min(1.0, (2 if self._mirrored else 1) / max(1, self.count))

    def parts(self) -> Iterator[slice]:
        """Yield the rows of rearrangements, some thousand at a time."""
        for first in range(0, len(self._bits), _PART):
            yield slice(first, first + _PART)

    def moved(self, matrix: Array, part: slice = slice(None)) -> Array:
        """Return for rows of rearrangements the sum of the matrix's rows over the units that change
        sides.

        Args:
            matrix: units by columns.
            part: which rows; all unless given.
        """
        chosen = self._bits[part]
        sums = np.empty((len(chosen), matrix.shape[1]), np.float64)
        step = max(1, _AT_ONCE // max(1, self.units))
        for first in range(0, len(chosen), step):
            bits = np.unpackbits(chosen[first : first + step], axis=1, count=self.units)
            sums[first : first + step] = bits.astype(matrix.dtype) @ matrix
        return sums

    def p_value(self, differences: Array) -> tuple[float | None, str | None]:
        """Return the two-sided p-value of the first difference among all, and why there is none.

        It is the share of rearrangements whose difference is at least as large, of all of them; of
        drawn ones, with the given arrangement counted among them. An undefined difference counts as
        large.

        Args:
            differences: for each row of rearrangements, NaN where undefined.
        """
        observed, others = differences[0], differences[1:]
        if np.isnan(observed):
            return None, "the difference is undefined"
        if self.units == 0 or (self.exact and self.count < 2):
            return None, "there is nothing to rearrange"
        undefined = np.isnan(others)
        if undefined.sum() > UNDEFINED_SHARE * len(others):
            return None, f"undefined in {int(undefined.sum())} of {len(others)} rearrangements"
        large = int((undefined | (np.abs(np.where(undefined, 0, others)) >= abs(observed) - EQUAL)).sum())
        return (large / self.count if self.exact else (large + 1) / (self.count + 1)), None

    def adjusted(self, statistics: Mapping[str, Array]) -> dict[str, float]:
        """Return p-values adjusted together (`max_t`) of statistics that are given for each row of
        rearrangements; of drawn ones, the given arrangement is counted among them.
        """
        rows = slice(1, None) if self.exact else slice(None)
        return max_t(
            {name: float(statistic[0]) for name, statistic in statistics.items()},
            {name: statistic[rows] for name, statistic in statistics.items()},
        )


def _every(pairs: int, only_a: int, only_b: int) -> Iterator[tuple[int, ...]]:
    for swapped in product((0, 1), repeat=pairs):
        for of_b in combinations(range(only_a + only_b), only_b):
            chosen = set(of_b)
            yield (*swapped, *(int((unit in chosen) != (unit >= only_a)) for unit in range(only_a + only_b)))


def max_t(observed: Mapping[str, float], rearranged: Mapping[str, Array]) -> dict[str, float]:
    """Return p-values of several two-sided tests adjusted together: the step-down procedure of
    Westfall and Young (1993) on the greatest statistic.

    Under the hypothesis that nothing differs, at most a share alpha of such families of tests has
    any adjusted value below alpha, however the statistics depend on each other.

    Args:
        observed: statistics by name, the larger the more they tell; all on one scale.
        rearranged: the same in every rearrangement, in the same order of rearrangements.
    """
    p_values: dict[str, float] = {}
    order = sorted(observed, key=lambda name: observed[name])
    greatest: Array = np.zeros(0)
    for name in order:
        statistic = np.nan_to_num(rearranged[name], nan=np.inf)
        greatest = np.maximum(greatest, statistic) if len(greatest) else statistic
        p_values[name] = float((greatest >= observed[name] - EQUAL).mean())
    highest = 0.0
    for name in reversed(order):
        highest = p_values[name] = max(highest, p_values[name])
    return {name: p_values[name] for name in observed}


Verdict: TypeAlias = Literal["above", "below", "unclear", "few", "undefined"]
"""Against its baseline: it is above, or below, by adjusted p and interval both; neither; too few
blocks of games to tell; or there is nothing to test.
"""

MOST: Final = 6
"""Primary metrics that a study may have."""
LEADS: Final[Mapping[str, str]] = {"best_detector": DETECTION, "best_deceiver": "concealment"}
"""Questions of who leads, and in which ability, by the role as the ground of truth."""
PRIMARY: Final = (
    "suspicion_gap",
    "balanced_accuracy",
    "truth_balanced_accuracy",
    "vote_hit_lift",
    *LEADS,
)
"""Primary metrics of a study that declares none."""
ALPHA: Final = 0.02
"""Level of the adjusted tests. Signs of few blocks are not quite exchangeable where a metric is a ratio:
at .05, six in a hundred simulated studies of noise had a bold sentence, at .02 three.
"""

_UNTESTED: Final = "it has no baseline to be tested against; it is for comparisons"


def needed_units(*, paired: bool) -> int:
    """Return the pairs of units, or the units on each side, from which rearrangements can give a p-value below the
    level of a verdict at all, and from which verdicts are given.
    """
    fewest = next(n for n in range(2, 64) if 2 / (2**n if paired else comb(2 * n, n)) < ALPHA)
    return max(fewest, TELLING)


def check_primary(names: Sequence[str], source: str) -> tuple[str, ...]:
    """Return the names of primary metrics as they were declared.

    Raises:
        ConfigError: there is no such metric, one is there twice, or there are more than six.
    """
    for place, name in enumerate(names):
        if name not in HEADLINES and name not in LEADS:
            choices = ", ".join((*(metric for metric in HEADLINES if "/" not in metric), *LEADS))
            raise ConfigError(f"{source}: [report] primary: there is no metric {name!r}; there are {choices}")
        if name in names[:place]:
            raise ConfigError(f"{source}: [report] primary: {name!r} is there twice")
    if not 0 < len(names) <= MOST:
        raise ConfigError(f"{source}: [report] primary: {len(names)} metrics; declare 1 to {MOST}")
    return tuple(names)


def check_margins(margins: Mapping[str, float], source: str) -> dict[str, float]:
    """Return margins of equivalence, by metric, as they were declared.

    Raises:
        ConfigError: there is no such metric, or a size is not above 0.
    """
    for name, size in margins.items():
        if name not in HEADLINES:
            raise ConfigError(f"{source}: margins: there is no metric {name!r}")
        if not (isfinite(size) and size > 0):
            raise ConfigError(f"{source}: margins: {name} = {size}: a margin is a number above 0")
    return dict(margins)


def declared_by(manifests: Iterable[Mapping[str, Any]]) -> set[tuple[str, ...]]:
    """Return the different primary metrics that some studies declared, () among them where one declared none."""
    return {tuple(manifest.get("primary") or ()) for manifest in manifests}


def primary_of(manifests: Iterable[Mapping[str, Any]]) -> tuple[tuple[str, ...], bool]:
    """Return the primary metrics of some studies, and whether they declared them; where studies
    declared different ones, or one none, the usual ones.
    """
    declared = declared_by(manifests)
    names = declared.pop() if len(declared) == 1 else ()
    if names and all(name in HEADLINES or name in LEADS for name in names):
        return names[:MOST], True
    return PRIMARY, False


def primary(study: Study, names: Sequence[str] = PRIMARY, *, declared: bool = False) -> Result:
    """Return the primary metrics with adjusted p-values and verdicts.

    ``metrics`` has for each ``value`` and its ``baseline``; ``difference``, an estimate; ``p`` of the test alone and
    ``p_adjusted`` for all of them; ``verdict``, one of "above", "below", "unclear", "few" and "undefined" (``reason``
    says why). ``best_detector`` and ``best_deceiver`` have the ``agent`` that is first and the ``second`` instead of
    value and baseline. A verdict is "above" or "below" only where the adjusted p is below .02 and the interval of the
    difference leaves out 0. ``declared`` tells whether the study did declare them before it was played.

    Args:
        study: the games.
        names: of the metrics.
        declared: whether the study declared them.
    """
    flips = Rearrangements(study.blocks)
    rows, parts, tell = metrics_by_block(study, [HEADLINES[name] for name in names if name in HEADLINES])
    telling = {name: int(counted_units(by_block.sum(axis=1))) for name, by_block in tell.items()}
    tested = {name: of_flips(flips, by_block) for name, by_block in parts.items()}
    for name in names:
        if name in LEADS:
            rows[name], telling[name], statistic = _lead(study, LEADS[name], flips)
            if statistic is not None:
                tested[name] = statistic
    add_verdicts(rows, flips, tested, telling)
    return {
        "metrics": {name: rows[name] for name in names},
        "declared": declared,
        "blocks": study.blocks,
        "flips": flips.count,
        "exact": flips.exact,
    }


def add_verdicts(
    rows: Mapping[str, Result], flips: Rearrangements, tested: Mapping[str, Array], telling: Mapping[str, int]
) -> None:
    """Add to metrics the ``p`` of each alone, ``p_adjusted`` for all that are tested, and ``verdict``.

    Args:
        rows: the metrics.
        flips: of the signs of blocks.
        tested: the statistics of those that can be tested.
        telling: blocks that tell of each: those without anything of it make it no surer.
    """
    adjusted = flips.adjusted(tested)
    for name, row in rows.items():
        alone = flips.adjusted({name: tested[name]}) if name in tested else {}
        row |= {"p": alone.get(name), "p_adjusted": adjusted.get(name)}
        row["verdict"] = verdict(row, enough=telling[name] >= TELLING)


def verdict(row: Result, *, enough: bool) -> Verdict:
    """Return what may be said of a metric, by its ``difference`` and ``p_adjusted``.

    Args:
        row: the metric.
        enough: whether there are blocks of games enough to say anything.
    """
    difference = row["difference"]
    if difference["value"] is None:
        return "undefined"
    if not enough:
        return "few"
    if row["p_adjusted"] is None:
        return "undefined"
    if row["p_adjusted"] < ALPHA and None not in (difference["low"], difference["high"]):
        if difference["low"] > 0:
            return "above"
        if difference["high"] < 0:
            return "below"
    return "unclear"


def described(headline: Headline, baseline: float | None) -> Result:
    """Return a metric's label, unit, better end and baseline."""
    return {
        "label": headline.label,
        "unit": headline.unit,
        "better": headline.better,
        "baseline": baseline,
        "baseline_label": None if baseline is None else headline.baseline_label,
    }


def of_flips(flips: Rearrangements, parts: Array) -> Array:
    """Return the statistic of a metric as it is and in every flip: how far the sum of its blocks' parts is from 0, in
    roots of the sum of their squares.

    Args:
        flips: of the signs of blocks.
        parts: what each block adds.
    """
    flipped = parts.sum() - 2 * flips.moved(parts[:, None])[:, 0]
    return np.asarray(abs(flipped) / np.sqrt((parts**2).sum()))


def metrics_by_block(
    study: Study, chosen: Sequence[Headline]
) -> tuple[dict[str, Result], dict[str, Array], dict[str, Array]]:
    """Return what is told of each metric; what each block adds to its difference from its baseline, where that can be
    tested: parts whose mean over the blocks that tell of it is the difference, 0 of others; and which blocks those are,
    then which have each side of it (`Units.telling`).
    """
    scope, draws = Scope(study, UNINFORMED), draws_of(study.blocks)
    rows: dict[str, Result] = {}
    by_block: dict[str, Array] = {}
    telling: dict[str, Array] = {}

    def lifts(vary: Callable[[Array], Array]) -> dict[str, Array]:
        by_name = varied(chosen, scope, study.block, study.blocks, vary)
        return {name: value - baseline for name, (value, baseline) in by_name.items() if baseline is not None}

    drawn = lifts(draws.sums)
    without = lifts(lambda matrix: matrix.sum(axis=0, dtype=np.float64) - matrix)
    for sums, members in by_sums(chosen, scope):
        units = Units(sums, study.block, study.blocks)
        total = units.exact
        for headline in members:
            name, figure, place = headline.name, headline.figure, sums.groups.index(headline.group)
            count = tells(figure)
            value = float(figure.value(total)[place])
            baseline = None if figure.baseline is None else defined(figure.baseline(total)[place])
            lift = float("nan") if baseline is None else value - baseline
            reason = figure.reason if isnan(value) else _UNTESTED
            telling[name] = units.telling(figure)[:, :, place]
            blocks = int(counted_units(telling[name].sum(axis=1)))
            interval = draws.interval(drawn[name], blocks) if name in drawn else None
            difference = figure_row(name, UNINFORMED, lift, interval, round(float(count(total)[place])), reason)
            about = described(headline, baseline)
            rows[name] = {**about, "value": defined(value), "difference": difference.estimate()}
            if not isnan(lift):
                n = count(units.by_unit)[:, place]
                # blocks without anything of it are not there for the jackknife, either
                with_it = int((n > 0).sum())
                parts = np.where(n > 0, (with_it - 1) * (lift - without[name]) + lift * n * with_it / n.sum(), 0.0)
                # where all rests on one block, there is nothing without it
                if not np.isnan(parts).any() and (np.abs(parts) > EQUAL).any():
                    by_block[name] = parts
    return rows, by_block, telling


def _lead(study: Study, ability: str, flips: Rearrangements) -> tuple[Result, int, Array | None]:
    """Return who leads in an ability, in how many blocks whoever of the first two is in fewer is there, and the
    statistic of whether anybody leads, likewise.
    """
    what, unit = ("AUC of suspicion", "probability") if ability == DETECTION else (ability, "logit")
    label = f"the first agent's {what} minus the second's"
    description: Result = {"label": label, "unit": unit, "better": "high", "agent": None, "second": None}
    lead, ranking = ability_lead(study, "role", ability), ranked(study, "role", ability)
    if lead is None or isinstance(ranking, str):
        why = ranking if isinstance(ranking, str) else ""
        return {**description, "difference": figure_row(ability, UNINFORMED, None, None, 0, why).estimate()}, 0, None
    values, effects, (_, _, telling) = ranking.values, ranking.effects, ranking.first_two
    informative = effects != 0
    parts = effects + informative * (values - values.mean()) / np.maximum(1, informative.sum(axis=0))
    norm = np.sqrt(((parts[:, :, None] - parts[:, None, :]) ** 2).sum(axis=0))
    agents = np.arange(len(values))
    norm[agents, agents] = 1
    if not norm.all():
        return {**description, **lead}, telling, None
    sums = parts.sum(axis=0) - 2 * flips.moved(parts)
    # whoever is first in the flip against whoever is second, in units of their difference's spread
    leads = np.full(len(sums), -np.inf)
    for index in agents:
        others = agents != index
        ahead = (sums[:, [index]] - sums[:, others]) / norm[index, others]
        leads = np.maximum(leads, ahead.min(axis=1))
    return {**description, **lead}, telling, leads
