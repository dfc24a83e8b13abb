"""Comparison of two studies, or of two agents of one, in every headline metric: values, difference, interval, p-value;
as blocks, a page and CSV in `written` (metrics: variability).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Final

import numpy as np

from analytics import Result
from analytics.compare.written import as_csv, asked_differently, compared_page, render
from analytics.metrics.agents import seat_rows, seats_of
from analytics.metrics.bootstrap import Draws, mean_interval
from analytics.metrics.formulas import Array
from analytics.metrics.games import asked_times
from analytics.metrics.headlines import Headline, by_sums, headlines_of
from analytics.metrics.primary import EQUAL, PERMUTATIONS, PRIMARY, Rearrangements, needed_units
from analytics.metrics.study import Scope, Study, Units, figure_row, joined_by_seed, tells
from analytics.metrics.sums import Sums
from analytics.results import UNINFORMED, Results, defined
from analytics.tables import Tables


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """Units of two sides, pairs first, then those of A alone, then those of B alone.

    Attributes:
        a: unit of each game of A, -1 for a game that is not compared.
        b: the same of B.
        pairs: units that both sides have.
        only_a: units of A alone.
        only_b: units of B alone.
        paired_a: games of A in pairs.
        paired_b: games of B in pairs.
    """

    a: Array
    b: Array
    pairs: int
    only_a: int
    only_b: int
    paired_a: int
    paired_b: int

    @property
    def count(self) -> int:
        """Number of units."""
        return self.pairs + self.only_a + self.only_b

    @property
    def fewest(self) -> int:
        """Number of units drawn together that the side with fewer of them rests on."""
        return min(max(self.pairs, self.only_a), max(self.pairs, self.only_b))


def by_seed(a: Study, b: Study) -> Shared:
    """Return the units of two sets of games: games of one seed belong together, and so do games of
    one block.

    A game without a seed, or with one that the other side has not, is paired with nothing, unless
    another game of its block is.
    """
    blocks = [f"{side} {block}" for side, study in enumerate((a, b)) for block in study.block.tolist()]
    games = joined_by_seed(blocks, [seed for study in (a, b) for seed in study.tables.games["seed"].to_list()])
    units_of = games[: a.games], games[a.games :]
    of_a, of_b = map(set, units_of)
    kinds = {unit: _KINDS[unit in of_a, unit in of_b] for unit in dict.fromkeys(games)}
    place = {unit: index for index, unit in enumerate(sorted(kinds, key=kinds.__getitem__))}
    units = [np.array([place[unit] for unit in side_units], np.int64) for side_units in units_of]
    pairs, only_a, only_b = (sum(kind == code for kind in kinds.values()) for code in range(3))
    return Shared(units[0], units[1], pairs, only_a, only_b, *(int((unit < pairs).sum()) for unit in units))


_KINDS: Final = {(True, True): 0, (True, False): 1, (False, True): 2}
"""The order of units by whether A and B have them: pairs first."""


def by_agents(study: Study, one: str, other: str) -> Shared:
    """Return the blocks in which either of two agents plays; in every one of them the two may be swapped.

    Args:
        study: the games.
        one: an agent.
        other: another.
    """
    seats = study.tables.seats.select("game", "agent")
    games = [np.unique(seats.filter(seats["agent"] == agent)["game"].to_numpy()) for agent in (one, other)]
    blocks = np.unique(study.block[np.concatenate(games)])
    place = np.full(study.blocks, -1)
    place[blocks] = np.arange(len(blocks))
    units = place[study.block]
    return Shared(units, units, len(blocks), 0, 0, *map(len, games))


def asked_in(tables: Tables) -> Result:
    """Return when labels were asked for in some games, if ever, and when labels and judgements were."""
    return {name: sorted(asked_times(tables.games, name).unique().to_list()) for name in ("label", "assess")}


@dataclass(frozen=True, slots=True, eq=False)
class _Side:
    name: str
    scope: Scope
    """With calibration bins of its own."""
    common: Scope
    """With calibration bins common to both sides."""
    units: Array
    description: Result


def compare(
    a: Tables,
    b: Tables,
    names: tuple[str, str] = ("A", "B"),
    metrics: Iterable[str] | None = None,
    permutations: int = PERMUTATIONS,
    primary: Iterable[str] = PRIMARY,
    margins: Mapping[str, float] | None = None,
) -> Result:
    """Compare two studies in every headline metric.

    Games are paired by their seeds where both sides have the seed, blocks staying whole. ``a`` and
    ``b`` are pooled over all games of a side. ``difference`` is B minus A; its 95 % bootstrap
    interval resamples pairs together and what is paired with nothing on each side for itself; there
    is none below five units, or where every draw gives the same. ``p`` is a two-sided permutation
    test: pairs are swapped, unpaired blocks dealt anew to the sides. ``p_adjusted`` is adjusted for
    all primary metrics together, by their greatest difference in each of the same rearrangements;
    every other metric is ``exploratory`` and has none. A difference says how these agents did in
    these games; p says how easily chance alone would do that, not how large or how important it is.
    ``units`` counts those that tell of a metric on the side that has fewer of them. ``variance_left``
    is what pairing gained: the difference's variance over the draws as a share of the sum of both
    sides' own, which is 1 - ρ where both vary alike and their values correlate by ρ.

    Args:
        a: one study.
        b: the other.
        names: what they are called.
        metrics: names of the metrics; all unless given.
        permutations: rearrangements to draw, unless there are no more than that.
        primary: names of the primary metrics; those of them that are compared are adjusted together.
        margins: by metric, the greatest difference that counts as none, above 0. ``equivalent`` then tells whether the
            whole interval lies within it, which is two one-sided tests at the level of .025; None without an interval.

    Raises:
        KeyError: there is no such metric.
    """
    studies = (Study(a), Study(b))
    units = by_seed(*studies)
    sides = []
    for index, unit in enumerate((units.a, units.b)):
        study, other = studies[index], studies[1 - index]
        description = {"games": study.games, "agents": list(study.agents), **asked_in(study.tables)}
        scope = Scope(study, UNINFORMED, None, other)
        common = Scope(study, UNINFORMED, None, other, own_bins=False)
        sides.append(_Side(names[index], scope, common, unit, description))
    by = "seed" if units.pairs else None
    result = _compare("studies", sides, units, by, headlines_of(metrics), permutations, set(primary))
    for name, margin in (margins or {}).items():
        if name in result["metrics"]:
            row = result["metrics"][name]
            row |= {"margin": margin, "equivalent": _within(row["difference"], margin)}
    return result


def _within(difference: Mapping[str, float | None], margin: float) -> bool | None:
    """Return whether a whole interval lies within a margin around 0, None without an interval."""
    low, high = difference["low"], difference["high"]
    return None if low is None or high is None else -margin < low and high < margin


def compare_agents(
    tables: Tables,
    a: str,
    b: str,
    metrics: Iterable[str] | None = None,
    permutations: int = PERMUTATIONS,
    primary: Iterable[str] = PRIMARY,
) -> Result:
    """Compare two agents of one study by what they did: as `compare`, but the units are the blocks
    in which either played, and a rearrangement swaps the two within blocks.

    Judgements are those they made, statements and votes their own, wins those of their seats (by
    side), the suspicion gap that of their own suspicion. Were one of them dealt other roles than
    the other, the difference would be that of the roles, too: ``roles`` counts both agents' seats.

    Args:
        tables: the study.
        a: name of an agent.
        b: name of another.
        metrics: as in `compare`.
        permutations: as in `compare`.
        primary: as in `compare`.

    Raises:
        KeyError: there is no such metric.
        ValueError: there is no such agent.
    """
    study = Study(tables)
    missing = [name for name in (a, b) if name not in study.agents]
    if missing:
        raise ValueError(f"there is no agent {missing[0]!r}")
    units = by_agents(study, a, b)
    sides, results = [], Results(seat_rows(study))
    for name in (a, b):
        scope = Scope(study, UNINFORMED, name)
        sides.append(_Side(name, scope, scope, units.a, seats_of(results, name)))
    by = "game" if units.count == int((units.a >= 0).sum()) else "block"
    return _compare("agents", sides, units, by, headlines_of(metrics), permutations, set(primary))


def _compare(
    kind: str,
    sides: Sequence[_Side],
    units: Shared,
    paired_by: str | None,
    chosen: list[Headline],
    permutations: int,
    primary: set[str],
) -> Result:
    draws = Draws([units.pairs, units.only_a, units.only_b], fewest=units.fewest)
    deals = Rearrangements(units.pairs, units.only_a, units.only_b, permutations)
    rows: dict[str, Result] = {}
    rearranged: dict[str, Array] = {}
    pairs = zip(*(by_sums(chosen, side.scope) for side in sides), strict=True)
    common = zip(*(by_sums(chosen, side.common) for side in sides), strict=True)
    for of_each, both in zip(pairs, common, strict=True):
        members = of_each[0][1]
        comparison = _Compared(sides, [sums for sums, _ in of_each], units, draws)
        moved = _rearranged([sums for sums, _ in both], sides, units.count, members, deals)
        for headline in members:
            p, why = deals.p_value(moved[headline.name])
            if p is not None:
                rearranged[headline.name] = moved[headline.name]
            rows[headline.name] = {**comparison.row(headline), "p": p, "p_reason": why}
    adjusted = _adjusted({name: values for name, values in rearranged.items() if name in primary}, deals)
    for name, row in rows.items():
        row |= {"exploratory": name not in primary, "p_adjusted": adjusted.get(name)}
    return {
        "kind": kind,
        **{key: {"name": side.name, **side.description} for key, side in zip("ab", sides, strict=True)},
        "pairing": {
            "by": paired_by,
            "pairs": units.pairs,
            "unpaired_a": units.only_a,
            "unpaired_b": units.only_b,
            "paired_games_a": units.paired_a,
            "paired_games_b": units.paired_b,
        },
        "metrics": {headline.name: rows[headline.name] for headline in chosen},
        "draws": draws.draws,
        "permutations": deals.count,
        "exact": deals.exact,
        "lowest_p": deals.lowest_p,
        "needed": needed_units(paired=units.pairs >= max(units.only_a, units.only_b)),
        "tested": len(rearranged),
        "adjusted": len(adjusted),
    }


def across(results: Mapping[str, Result]) -> dict[str, Result]:
    """Return the difference of each metric over the levels of a further factor, as over a random sample of levels.

    Of few levels the interval is wide, as it should be: another wording, say, is one more draw. There is none where all
    levels are alike. Source: ours; the mean of k differences with Student's interval of k - 1 degrees of freedom.

    Args:
        results: what `compare` found at each level.
    """
    rows: dict[str, Result] = {}
    for name in next(iter(results.values()))["metrics"]:
        of_levels = {level: result["metrics"][name]["difference"]["value"] for level, result in results.items()}
        values = [value for value in of_levels.values() if value is not None]
        mean = low = high = None
        if len(values) == len(results):
            mean = float(np.mean(values))
            sem = float(np.std(values, ddof=1) / np.sqrt(len(values)))
            # levels that all give the same do not show how far one more may be from them
            low, high, _ = mean_interval(mean, sem, len(values), fewest=2)
        rows[name] = {"levels": of_levels, "value": mean, "low": low, "high": high}
    return rows


class _Compared:
    """Figures of the same sums of two sides, and their differences.

    Args:
        sides: A and B.
        sums: of each.
        shared: the units.
        draws: of the units.
    """

    def __init__(self, sides: Sequence[_Side], sums: Sequence[Sums], shared: Shared, draws: Draws) -> None:
        self._sides = sides
        self._paired = bool(shared.pairs)
        self._draws = draws
        self._units = [Units(of_side, side.units, shared.count) for of_side, side in zip(sums, sides, strict=True)]
        self._drawn = [units.sums.parts(draws.sums(units.matrix)) for units in self._units]

    def row(self, headline: Headline) -> Result:
        """Return what is told of a metric."""
        figure, count = headline.figure, tells(headline.figure)
        place = self._units[0].sums.groups.index(headline.group)
        totals = [units.exact for units in self._units]
        values = [float(figure.value(total)[place]) for total in totals]
        n = [round(float(count(total)[place])) for total in totals]
        baselines = [None if figure.baseline is None else defined(figure.baseline(total)[place]) for total in totals]
        drawn = [
            units.values(figure, variants)[:, place] for units, variants in zip(self._units, self._drawn, strict=True)
        ]
        nonempty = min(int(units.nonempty(figure)[place]) for units in self._units)
        interval = self._draws.interval(drawn[1] - drawn[0], nonempty)
        missing = [side.name for side, value in zip(self._sides, values, strict=True) if isnan(value)]
        reason = f"{' and '.join(missing)}: {figure.reason}"
        difference = figure_row(headline.name, UNINFORMED, values[1] - values[0], interval, sum(n), reason)
        left = None if interval.low is None or not self._paired else _variance_left(*drawn)
        return {
            "label": headline.label,
            "unit": headline.unit,
            "better": headline.better,
            **dict(zip("ab", map(defined, values), strict=True)),
            **dict(zip(("n_a", "n_b"), n, strict=True)),
            **dict(zip(("baseline_a", "baseline_b"), baselines, strict=True)),
            "difference": difference.estimate(),
            "variance_left": left,
            "units": nonempty,
        }


def _variance_left(a: Array, b: Array) -> float | None:
    """Return the variance of b - a over the draws in which both are defined, as a share of the sum of their own; None
    where neither varies.
    """
    both = np.isfinite(a) & np.isfinite(b)
    apart = float(np.var(a[both]) + np.var(b[both]))
    return float(np.var(b[both] - a[both])) / apart if apart else None


def _rearranged(
    sums: Sequence[Sums], sides: Sequence[_Side], count: int, members: Sequence[Headline], deals: Rearrangements
) -> dict[str, Array]:
    """Return the difference of each metric in every rearrangement of the units.

    Args:
        sums: of A and of B.
        sides: A and B.
        count: number of units.
        members: the metrics, which are formulas of these sums.
        deals: which units change sides.
    """
    differences: dict[str, list[Array]] = {headline.name: [] for headline in members}
    a, b = sums[0].by_unit(sides[0].units, count), sums[1].by_unit(sides[1].units, count)
    total_a = a.sum(axis=0, dtype=np.float64)
    total_b = b.sum(axis=0, dtype=np.float64)
    for part in deals.parts():
        moved = deals.moved(b - a, part)
        # either side's sums will do: of an agent both know that its wins are those of its seats
        one, other = sums[0].parts(total_a + moved), sums[0].parts(total_b - moved)
        for headline in members:
            place, value = sums[0].groups.index(headline.group), headline.figure.value
            differences[headline.name].append(value(other)[:, place] - value(one)[:, place])
    return {name: np.concatenate(parts) for name, parts in differences.items()}


def _adjusted(rearranged: Mapping[str, Array], deals: Rearrangements) -> dict[str, float]:
    """Return p-values adjusted together; differences are held against their spread over the
    rearrangements, so that they are on one scale.
    """
    scaled = {}
    for name, differences in rearranged.items():
        spread = float(np.nanstd(differences[1:]))
        scaled[name] = abs(differences) / (spread if spread > EQUAL else 1.0)
    return deals.adjusted(scaled)


__all__ = ["across", "as_csv", "asked_differently", "asked_in", "compare", "compare_agents", "compared_page", "render"]
