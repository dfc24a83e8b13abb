"""Two studies, or two agents of one, metric by metric: values, difference, interval, p-value
(metrics: variability).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING

from analytics import Result
from analytics.compare.pairing import Units, by_block, by_seed
from analytics.measures.agents import seats_of
from analytics.measures.bootstrap import Draws, told
from analytics.measures.families import HEADLINES
from analytics.measures.formulas import number
from analytics.measures.frames import aligned
from analytics.measures.headlines import MEASURES
from analytics.measures.measure import Measure, Score
from analytics.measures.primary import PRIMARY
from analytics.measures.rearranging import PERMUTATIONS, Rearrangements, max_t
from analytics.measures.study import Sheet, Study, describe
from analytics.measures.view import View, evaluate

if TYPE_CHECKING:
    from analytics.columns import Array, Columns


@dataclass(frozen=True, slots=True)
class _ComparedSide:
    name: str
    sheet: Sheet
    """With calibration bins of its own."""
    common: Sheet
    """With calibration bins common to both sides."""
    about: Result


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
    own = (Study(a), Study(b))
    sides = []
    for at, unit in enumerate((units.a, units.b)):
        columns, beside = own[at].columns, own[1 - at]
        about = {"games": len(columns.ids), "agents": list(columns.agents)}
        sheet, common = (Sheet(Study(columns, beside, own_bins=kept), unit, units.count) for kept in (True, False))
        sides.append(_ComparedSide(names[at], sheet, common, about))
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
    units = by_block(columns, *codes)
    study = Study(columns)
    sides = []
    for name in (a, b):
        sheet = Sheet(study, units.a, units.count, name)
        sides.append(_ComparedSide(name, sheet, sheet, seats_of(study, name)))
    measures = _measures(metrics)
    return _compare("agents", (sides[0], sides[1]), units, "block", measures, permutations, set(primary))


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
    held = [side.sheet.held(measures) for side in (a, b)]
    drawn = [side.sheet.drawn(measures, draws) for side in (a, b)]
    deals = Rearrangements(units.pairs, units.only_a, units.only_b, permutations)
    rearranged = _rearranged(measures, a.common, b.common, deals)
    values = [side.sheet.pooled(measures) for side in (a, b)]
    totals = [side.sheet.total for side in (a, b)]
    found: dict[str, Result] = {}
    p_values: dict[str, float] = {}
    for measure in measures:
        name = measure.name
        n = [round(float(measure.n(sums))) for sums in totals]
        p, why = deals.p_value(rearranged[name])
        if p is not None:
            p_values[name] = p
        difference = values[1][name] - values[0][name]
        reason = _undefined(measure, (a.name, b.name), (values[0][name], values[1][name]))
        found[name] = {
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
            "difference": told(
                *(difference, sum(n)),
                *(
                    draws.interval(drawn[1][name] - drawn[0][name], min(side[name] for side in held)),
                    reason,
                ),
            ),
            "p": p,
            "p_reason": why,
        }
    adjusted = _adjusted({name: rearranged[name] for name in p_values if name in primary}, deals)
    for name, row in found.items():
        row |= {"exploratory": name not in primary, "p_adjusted": adjusted.get(name)}
    return {
        "kind": kind,
        "a": {"name": a.name, **a.about},
        "b": {"name": b.name, **b.about},
        "pairing": {
            "by": paired_by,
            "pairs": units.pairs,
            "unpaired_a": units.only_a,
            "unpaired_b": units.only_b,
            "paired_games_a": units.paired_a,
            "paired_games_b": units.paired_b,
        },
        "metrics": found,
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
    kept = slice(1, None) if deals.exact else slice(None)
    return max_t(
        {name: float(own[0]) for name, own in scaled.items()}, {name: own[kept] for name, own in scaled.items()}
    )


def _rearranged(measures: list[Measure], a: Sheet, b: Sheet, deals: Rearrangements) -> Mapping[str, Array]:
    import numpy as np

    frames = [frame.stacked(HEADLINES) for frame in aligned([a.frame, b.frame], HEADLINES, "agent")]
    (one, back), (other, _) = frames

    def both(one: Array, other: Array, part: slice) -> Array:
        moved = deals.moved(other - one, part)
        return np.stack([one.sum(axis=0, dtype=np.float64) + moved, other.sum(axis=0, dtype=np.float64) - moved])

    def view(part: slice) -> View:
        # either side's frame will do: of an agent both know that its wins are those of its seats
        frame = back(both(one, other, part))

        def cells(score: Score, role: int) -> Array:
            return both(a.histogram(score, role), b.histogram(score, role), part)

        return View(frame, cells)

    parts = [evaluate(measures, view(part)) for part in deals.parts()]
    return {
        measure.name: np.concatenate([values[measure.name][1] - values[measure.name][0] for values in parts])
        for measure in measures
    }


def _undefined(measure: Measure, names: tuple[str, str], values: tuple[float, float]) -> str:
    missing = [name for name, value in zip(names, values, strict=True) if isnan(value)]
    return f"{' and '.join(missing)}: {measure.reason}"
