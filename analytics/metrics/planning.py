"""How many games a study needs: whether its own verdict rule would find a difference, by simulation from a pilot.

The pilot tells what each of its blocks adds to every primary metric's difference from its baseline. A study of n blocks
is n of them drawn at random, those that tell of the metric in question shifted so that it differs by what is asked, and
all others not at all; deviations are stretched to the upper 80 % bound of their variance, for a pilot of few blocks may
well be too narrow. Each simulated study is judged as a report judges one: eight of its blocks or more tell of the
metric, signs of blocks flipped, p adjusted by the greatest statistic of all primary metrics (step-down), below .02, and
an interval that leaves out 0. The interval is Student's: what the bootstrap's expanded quantiles come to where a mean
over blocks is nearly normal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import gammaincinv, ndtri, stdtrit

from analytics.metrics.bootstrap import SEED, TELLING
from analytics.metrics.formulas import Array
from analytics.metrics.headlines import HEADLINES, check_metric
from analytics.metrics.primary import ALPHA, max_t, metrics_by_block, needed_units
from analytics.metrics.study import Study, counted_units
from wolfbus.errors import ConfigError
from wolfbus.files.printable import counted

POWER: Final = 0.8
STUDIES: Final = 400
"""Simulated for each number of blocks: a power of .8 then has a standard error of .02."""
_FLIPS: Final = 1_000
_BOUND: Final = 0.8
_HUGE: Final = 1e6
"""In standard errors, what every study states that can state anything."""
MOST: Final = 4_096
"""Blocks of a study, at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """What a study tells of another one like it.

    Attributes:
        metric: whose difference is to be found.
        unit: of differences in it.
        deviations: by metric, what its blocks add less their mean, stretched, and 0 of blocks that do not tell of it;
            the metric in question comes first.
        games_per_block: on average.
        telling: which blocks tell of the metric in question, then which have each side of it (`Units.telling`).
    """

    metric: str
    unit: str
    deviations: Array
    games_per_block: float
    telling: Array

    def games(self, blocks: int) -> int:
        """Return how many games so many blocks are."""
        return round(blocks * self.games_per_block)

    def power(self, blocks: int, difference: float) -> float:
        """Return the share of simulated studies that state a difference of this direction.

        Args:
            blocks: of each study.
            difference: the true one.
        """
        if blocks < needed_units(paired=True):
            return 0.0
        generator = np.random.default_rng([SEED, blocks])
        signs = generator.choice(np.array([-1.0, 1.0]), size=(_FLIPS, blocks))
        signs[0] = 1
        stated = 0
        for _ in range(STUDIES):
            drawn = generator.integers(0, self.deviations.shape[1], blocks)
            parts, telling = self.deviations[:, drawn], self.telling[:, drawn]
            parts[0] += difference * telling[0]
            if counted_units(telling.sum(axis=1)) >= TELLING:
                stated += _states(parts, signs, difference, telling[0])
        return stated / STUDIES

    def curve(self, difference: float, power: float = POWER) -> Iterator[tuple[int, float]]:
        """Yield numbers of blocks and the power that they have, upwards until it is enough or the blocks are too many,
        then the numbers by which the smallest sufficient one was found.
        """
        low, high = 0, needed_units(paired=True)
        while True:
            reached = self.power(high, difference)
            yield high, reached
            if reached >= power or high >= MOST:
                break
            low, high = high, min(MOST, high * 3 // 2)
        while reached >= power and high - low > max(1, high // 20) and low:
            middle = (low + high) // 2
            power_there = self.power(middle, difference)
            yield middle, power_there
            low, high = (low, middle) if power_there >= power else (middle, high)

    def smallest(self, blocks: int, power: float = POWER) -> float | None:
        """Return the smallest difference that studies of so many blocks state with this power, within a hundredth of
        itself, or of its standard error; None where they can state none.
        """
        error = float(self.deviations[0, self.telling[0]].std(ddof=1) / np.sqrt(max(1, blocks)))
        if self.power(blocks, _HUGE * error) < power:
            return None
        low = 0.0
        # of a power that hardly anybody asks for the first guess is none, or below
        high = float(max(1.0, ndtri(1 - ALPHA / 2) + ndtri(power)) * error)
        while self.power(blocks, high) < power:
            low, high = high, 2 * high
        while high - low > max(high, error) / 100:
            middle = (low + high) / 2
            low, high = (low, middle) if self.power(blocks, middle) >= power else (middle, high)
        return high


def pilot_of(study: Study, metric: str, primary: Sequence[str]) -> Pilot:
    """Return what a study tells of another one.

    Args:
        study: the pilot's games.
        metric: a headline metric with a baseline.
        primary: the primary metrics that are tested with it; those that this pilot cannot test are left out.

    Raises:
        ConfigError: the metric is none, has no baseline or is undefined here, or the blocks are too few.
    """
    check_metric(metric)
    if study.blocks < TELLING:
        pilot = counted(study.blocks, "block")
        raise ConfigError(f"--from: {pilot} of games tell too little of how much they vary; {TELLING} do")
    chosen = [HEADLINES[name] for name in dict.fromkeys((metric, *primary)) if name in HEADLINES]
    rows, by_block, telling = metrics_by_block(study, chosen)
    if metric not in by_block:
        reason = rows[metric]["difference"].get("reason") or "no block differs from its baseline"
        raise ConfigError(f"--metric {metric}: it cannot be planned by this pilot: {reason}")
    enough = int(counted_units(telling[metric].sum(axis=1)))
    if enough < TELLING:
        reason = f"{counted(enough, 'block')} of games tell of it; {TELLING} do"
        raise ConfigError(f"--metric {metric}: it cannot be planned by this pilot: {reason}")
    names = [metric, *(name for name in by_block if name != metric)]
    deviations = np.stack([_stretched(by_block[name], telling[name][0]) for name in names])
    if np.allclose(deviations[0], 0, atol=1e-9):
        raise ConfigError(f"--metric {metric}: it cannot be planned by this pilot: all its blocks are alike")
    unit = HEADLINES[metric].unit
    return Pilot(metric, "points" if unit == "share" else unit, deviations, study.games / study.blocks, telling[metric])


def _stretched(parts: Array, tells: Array) -> Array:
    """Return what the blocks that tell of a metric add less their mean, stretched, and 0 of the others."""
    free = max(1, int(tells.sum()) - 1)
    # twice the inverse of the incomplete gamma function is the quantile of chi-squared; to import scipy.stats, which
    # has it by name, takes longer than to read a study
    wider = np.sqrt(free / (2 * gammaincinv(free / 2, 1 - _BOUND)))
    stretched: Array = np.where(tells, wider * (parts - parts[tells].mean()), 0.0)
    return stretched


def _states(parts: Array, signs: Array, difference: float, tells: Array) -> bool:
    """Return whether a report of these blocks, of which some tell of the first metric, states its difference."""
    of_metric = parts[0, tells]
    mean, free = of_metric.mean(), len(of_metric) - 1
    if abs(mean) <= stdtrit(free, 0.975) / np.sqrt(free) * of_metric.std() or (mean > 0) != (difference > 0):
        return False
    norms = np.sqrt((parts**2).sum(axis=1))
    flipped = np.abs((parts / np.where(norms > 0, norms, 1)[:, None]) @ signs.T)
    statistics = {str(at): flipped[at] for at in range(len(parts))}
    adjusted = max_t({name: float(values[0]) for name, values in statistics.items()}, statistics)
    return adjusted["0"] < ALPHA
