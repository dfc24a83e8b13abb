"""Comparison of two studies, or of two agents of one, in every headline metric: values, difference, interval, p-value;
as blocks, a page and CSV in `written` (metrics: variability).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.compare.written import as_csv, compared_page, render
from analytics.measures.agents import seats_of
from analytics.measures.bootstrap import Draws, estimate
from analytics.measures.formulas import number
from analytics.measures.frames import HEADLINES, aligned
from analytics.measures.headlines import MEASURES, Measure, evaluate
from analytics.measures.primary import PERMUTATIONS, PRIMARY, Rearrangements
from analytics.measures.study import Sheet, Study, describe

if TYPE_CHECKING:
    from analytics.measures.columns import Array, Columns


@dataclass(frozen=True, slots=True, eq=False)
class Units:
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


def by_seed(a: Columns, b: Columns) -> Units:
    """Return the units of two sets of games: games of one seed belong together, and so do games of
    one block.

    A game without a seed, or with one that the other side has not, is paired with nothing, unless
    another game of its block is.
    """
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    common = (set(a.seeds) & set(b.seeds)) - {""}
    nodes: dict[tuple[int | str, int | str], int] = {}
    links: list[tuple[int, int]] = []
    for side, columns in enumerate((a, b)):
        for block, seed in zip(columns.blocks.tolist(), columns.seeds, strict=True):
            node = nodes.setdefault((side, block), len(nodes))
            links.append((node, nodes.setdefault(("seed", seed), len(nodes)) if seed in common else node))
    graph = coo_array(([1] * len(links), tuple(zip(*links, strict=True)) or ([], [])), shape=(len(nodes),) * 2)
    label = connected_components(graph.tocsr(), directed=False)[1].tolist()
    games = [label[node] for node, _ in links]
    units_of = games[: len(a.ids)], games[len(a.ids) :]
    of_a, of_b = map(set, units_of)
    kinds = {unit: _KINDS[unit in of_a, unit in of_b] for unit in dict.fromkeys(games)}
    place = {unit: index for index, unit in enumerate(sorted(kinds, key=kinds.__getitem__))}
    units = [np.array([place[unit] for unit in side_units], np.int64) for side_units in units_of]
    pairs, only_a, only_b = (sum(kind == code for kind in kinds.values()) for code in range(3))
    return Units(units[0], units[1], pairs, only_a, only_b, *(int((unit < pairs).sum()) for unit in units))


_KINDS: Final = {(True, True): 0, (True, False): 1, (False, True): 2}
"""The order of units by whether A and B have them: pairs first."""


def by_agents(columns: Columns, one: int, other: int) -> Units:
    """Return the blocks in which either of two agents plays; in every one of them the two may be
    swapped.

    Args:
        columns: the games.
        one: index of an agent.
        other: index of another.
    """
    import numpy as np

    agent = columns.seats["agent"]
    games = {code: np.unique(columns.seats["game"][agent == code]) for code in (one, other)}
    blocks = np.unique(columns.blocks[np.concatenate(list(games.values()))])
    place = np.full(len(columns.block_names), -1)
    place[blocks] = np.arange(len(blocks))
    units = place[columns.blocks]
    return Units(units, units, len(blocks), 0, 0, *(len(ids) for ids in games.values()))


@dataclass(frozen=True, slots=True)
class _ComparedSide:
    name: str
    sheet: Sheet
    """With calibration bins of its own."""
    common: Sheet
    """With calibration bins common to both sides."""
    description: Result


def compare(
    a: Columns,
    b: Columns,
    names: tuple[str, str] = ("A", "B"),
    metrics: Iterable[str] | None = None,
    permutations: int = PERMUTATIONS,
    primary: Iterable[str] = PRIMARY,
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

    Args:
        a: one study.
        b: the other.
        names: what they are called.
        metrics: names of the metrics; all unless given.
        permutations: rearrangements to draw, unless there are no more than that.
        primary: names of the primary metrics; those of them that are compared are adjusted together.

    Raises:
        KeyError: there is no such metric.
    """
    units = by_seed(a, b)
    studies = (Study(a), Study(b))
    sides = []
    for index, unit in enumerate((units.a, units.b)):
        columns, other = studies[index].columns, studies[1 - index]
        description = {"games": len(columns.ids), "agents": list(columns.agents)}
        sheet = Sheet(Study(columns, other), unit, units.count)
        common = Sheet(Study(columns, other, own_bins=False), unit, units.count)
        sides.append(_ComparedSide(names[index], sheet, common, description))
    by = "seed" if units.pairs else None
    measures = _measures(metrics)
    return _compare("studies", (sides[0], sides[1]), units, by, measures, permutations, set(primary))


def compare_agents(
    columns: Columns,
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
        columns: the study.
        a: name of an agent.
        b: name of another.
        metrics: as in `compare`.
        permutations: as in `compare`.
        primary: as in `compare`.

    Raises:
        KeyError: there is no such metric.
        ValueError: there is no such agent.
    """
    codes = (columns.agents.index(a), columns.agents.index(b))
    units = by_agents(columns, *codes)
    study = Study(columns)
    sides = []
    for name in (a, b):
        sheet = Sheet(study, units.a, units.count, name)
        sides.append(_ComparedSide(name, sheet, sheet, seats_of(study, name)))
    measures = _measures(metrics)
    by = "game" if units.count == int((units.a >= 0).sum()) else "block"
    return _compare("agents", (sides[0], sides[1]), units, by, measures, permutations, set(primary))


def _measures(names: Iterable[str] | None) -> list[Measure]:
    return [MEASURES[name] for name in (MEASURES if names is None else names)]


def _compare(
    kind: str,
    sides: tuple[_ComparedSide, _ComparedSide],
    units: Units,
    paired_by: str | None,
    measures: list[Measure],
    permutations: int,
    primary: set[str],
) -> Result:
    a, b = sides
    draws = Draws([units.pairs, units.only_a, units.only_b], fewest=units.fewest)
    nonempty = [side.sheet.nonempty(measures) for side in (a, b)]
    drawn = [side.sheet.drawn(measures, draws) for side in (a, b)]
    deals = Rearrangements(units.pairs, units.only_a, units.only_b, permutations)
    rearranged = _rearranged(measures, a.common, b.common, deals)
    values = [side.sheet.pooled(measures) for side in (a, b)]
    totals = [side.sheet.total for side in (a, b)]
    rows: dict[str, Result] = {}
    p_values: dict[str, float] = {}
    for measure in measures:
        name = measure.name
        n = [round(float(measure.n(sums))) for sums in totals]
        p, why = deals.p_value(rearranged[name])
        if p is not None:
            p_values[name] = p
        difference = values[1][name] - values[0][name]
        reason = _undefined(measure, (a.name, b.name), (values[0][name], values[1][name]))
        rows[name] = {
            "label": measure.label,
            "unit": measure.unit,
            "better": measure.better,
            "a": number(values[0][name]),
            "b": number(values[1][name]),
            "n_a": n[0],
            "n_b": n[1],
            **{
                f"baseline_{side}": describe(measure, sums)["baseline"] for side, sums in zip("ab", totals, strict=True)
            },
            "difference": estimate(
                *(difference, sum(n)),
                *(draws.interval(drawn[1][name] - drawn[0][name], min(side[name] for side in nonempty)), reason),
            ),
            "p": p,
            "p_reason": why,
        }
    adjusted = _adjusted({name: rearranged[name] for name in p_values if name in primary}, deals)
    for name, row in rows.items():
        row |= {"exploratory": name not in primary, "p_adjusted": adjusted.get(name)}
    return {
        "kind": kind,
        "a": {"name": a.name, **a.description},
        "b": {"name": b.name, **b.description},
        "pairing": {
            "by": paired_by,
            "pairs": units.pairs,
            "unpaired_a": units.only_a,
            "unpaired_b": units.only_b,
            "paired_games_a": units.paired_a,
            "paired_games_b": units.paired_b,
        },
        "metrics": rows,
        "draws": draws.draws,
        "permutations": deals.count,
        "exact": deals.exact,
        "tested": len(p_values),
        "adjusted": len(adjusted),
    }


def _adjusted(rearranged: Mapping[str, Array], deals: Rearrangements) -> dict[str, float]:
    """Return p-values adjusted together; differences are held against their spread over the
    rearrangements, so that they are on one scale.
    """
    import numpy as np

    scaled = {}
    for name, differences in rearranged.items():
        spread = float(np.nanstd(differences[1:]))
        scaled[name] = abs(differences) / (spread or 1.0)
    return deals.adjusted(scaled)


def _rearranged(measures: list[Measure], a: Sheet, b: Sheet, deals: Rearrangements) -> Mapping[str, Array]:
    import numpy as np

    frames = [frame.stacked(HEADLINES) for frame in aligned([a.frame, b.frame], HEADLINES, "agent")]
    (one, back), (other, _) = frames

    def both(one: Array, other: Array, part: slice) -> Array:
        moved = deals.moved(other - one, part)
        return np.stack([one.sum(axis=0, dtype=np.float64) + moved, other.sum(axis=0, dtype=np.float64) - moved])

    def values(part: slice) -> dict[str, Array]:
        # either side's frame will do: of an agent both know that its wins are those of its seats
        frame = back(both(one, other, part))
        return evaluate(
            measures, frame, lambda score, role: both(a.histogram(score, role), b.histogram(score, role), part)
        )

    parts = [values(part) for part in deals.parts()]
    return {
        measure.name: np.concatenate([part[measure.name][1] - part[measure.name][0] for part in parts])
        for measure in measures
    }


def _undefined(measure: Measure, names: tuple[str, str], values: tuple[float, float]) -> str:
    missing = [name for name, value in zip(names, values, strict=True) if isnan(value)]
    return f"{' and '.join(missing)}: {measure.reason}"


__all__ = ["as_csv", "compare", "compare_agents", "compared_page", "render"]
