"""Trends: slopes of suspicion over rounds, and the round from which Werewolves stand out (paper, section 5.6)."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median
from typing import Final

from analytics.accumulator import Result
from analytics.intervals import bootstrap, no_interval
from analytics.sums import Sample

ENOUGH_GAMES: Final = 10
"""Games a round needs before its difference is judged."""


def theil_sen(line: Mapping[int, float]) -> float | None:
    """Return the Theil-Sen slope, the median of the slopes between all pairs of points; None below two points.

    Args:
        line: round to value.
    """
    points = sorted(line.items())
    slopes = [
        (value - earlier) / (round_ - before)
        for place, (round_, value) in enumerate(points)
        for before, earlier in points[:place]
    ]
    return median(slopes) if slopes else None


def slope_of_games(slopes: Sample) -> Result:
    """Return the median over games with its game-bootstrap 95 % interval (paper 5.6; metrics: trend).

    Games are resampled, not blocks. ``reason`` says why there is no median, ``interval_reason`` why there is no
    interval around it.
    """
    values = slopes.values()
    interval = bootstrap(values, "median")
    found: Result = {
        "median": median(values) if values else None,
        "low": interval[0] if interval else None,
        "high": interval[1] if interval else None,
        "n": len(values),
        "reason": None if values else "there are no games of at least two rounds with such suspicion",
    }
    return found if interval or not values else {**found, "interval_reason": no_interval(len(values))}


def first_separable(differences: Mapping[int, Sample]) -> Result:
    """Return the first round from which suspicion of Werewolves stays above that of Villagers.

    That is the first round whose game-bootstrap 95 % interval of the mean paired difference Werewolf -
    Villager lies above 0, and so in every later round; only rounds with at least 10 games that have both
    are judged. Where every draw gives the same difference, that is what has to lie above 0. ``round`` is
    null where there is none, and ``reason`` says why.

    Args:
        differences: round to the per-game differences.
    """
    rounds: list[Result] = []
    for round_, sample in sorted(differences.items()):
        interval = bootstrap(sample.values(), "mean")
        row: Result = {
            "round": round_,
            "difference": sample.mean(),
            "low": interval[0] if interval else None,
            "high": interval[1] if interval else None,
            "n": len(sample),
        }
        rounds.append(row if interval else {**row, "interval_reason": no_interval(len(sample))})
    judged = [row for row in rounds if row["n"] >= ENOUGH_GAMES]
    first, reason = None, None
    if not judged:
        reason = f"no round has {ENOUGH_GAMES} games with suspicion of both Werewolves and Villagers"
    else:
        for row in reversed(judged):
            # without an interval, every draw gives the same difference
            if (row["difference"] if row["low"] is None else row["low"]) <= 0:
                break
            first = row["round"]
        if first is None:
            reason = (
                f"the interval of the difference is not above 0 in round {judged[-1]['round']}, the last one judged"
            )
    return {"round": first, "reason": reason, "rounds": rounds}
