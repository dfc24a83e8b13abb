"""Suspicion round by round: Figure 1 and its trends (paper, section 5.6).

Undefined is None, never 0 and never NaN; every mean has its own denominator beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Final

from analytics import Result
from analytics.measures.bootstrap import of_games
from analytics.measures.estimates import Estimates
from analytics.measures.families import MOVED
from analytics.measures.formulas import theil_sen, whole
from analytics.measures.pairs import ALL, OVER, UNINFORMED
from wolfbus.vocabulary import ROLES

ENOUGH_GAMES: Final = 10
"""Games a round needs before its difference is judged."""


def figure1(held: Estimates) -> Result:
    """Return Figure 1's lines (paper 5.6; metrics: Figure 1).

    ``suspicion[target role]``: per round the mean over games of the game's mean D over pairs alive
    when the round's last judgement was joined, with a judgement so far; sem over games (null below
    2), n games. ``raw``: the same of the round's suspicions as they were given, not smoothed.
    ``flagged``: per round the share of judgements that flag, n judgements.

    Lines also move because of who is left. ``moved[target role]`` takes the change from the round
    before apart, in games that have a pair in both rounds: ``within`` these pairs, the mean over
    games of the mean change of their D, and by the ``makeup`` of the pairs, the rest.

    Over uninformed pairs (`analytics.measures.pairs`); ``all_observers``: the same over all, as in
    the paper.
    """
    return {**_figure1(held.of(**OVER[UNINFORMED])), "all_observers": _figure1(held.of(**OVER[ALL]))}


def _figure1(held: Estimates) -> Result:
    rounds = held.entries.groups("round_flags", "round")
    flags = held.total.cube("round_flags", ("round", rounds), "flag").tolist()
    return {
        "suspicion": {role: _line(held, role) for role in ROLES},
        "raw": {role: _line(held, role, "raw_line") for role in ROLES},
        "moved": {role: _moved(held, role) for role in ROLES},
        "flagged": [
            {
                "round": round_,
                "share": flagged / (passed + flagged),
                "flagged": whole(flagged),
                "n": whole(passed + flagged),
            }
            for round_, (passed, flagged) in zip(rounds, flags, strict=True)
            if passed + flagged
        ],
    }


def _moved(held: Estimates, role: str) -> list[Result]:
    found = []
    for round_ in held.entries.groups("moved", "round"):
        within, makeup = (held.values("moved", role, round_, what) for what in MOVED)
        if within:
            means = {"within": _mean(within), "within_sem": _sem(within), "makeup": _mean(makeup)}
            found.append({"round": round_, **means, "makeup_sem": _sem(makeup), "n": len(within)})
    return found


def _line(held: Estimates, role: str, family: str = "line") -> list[Result]:
    found = []
    for round_ in held.entries.groups(family, "round"):
        values = held.values(family, role, round_)
        if values:
            found.append({"round": round_, "mean": _mean(values), "sem": _sem(values), "n": len(values)})
    return found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sem(values: Sequence[float]) -> float | None:
    n, mean = len(values), _mean(values)
    if n < 2:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1)) / math.sqrt(n)


def trends(held: Estimates) -> Result:
    """Return slopes per round and the first separable round (paper 5.6; metrics: trend).

    ``slopes[target role]``: ``median`` over games of at least two rounds of the Theil-Sen slope
    within the game, its game-bootstrap 95 % interval (games are resampled, not blocks), n games;
    ``paper_reading`` is the slope of the per-round means over games, in which rounds of few, long
    games weigh as much as others. Units: D per round.

    ``separable``: the first round whose game-bootstrap 95 % interval of the mean paired difference
    Werewolf - Villager lies above 0, and so in every later round; only rounds with at least 10
    games that have both are judged. Where every draw gives the same difference, that is what has to
    lie above 0. ``round`` is null where there is none, and ``reason`` says why.

    Over uninformed pairs; ``all_observers``: the same over all, as in the paper.
    """
    return {**_trends(held.of(**OVER[UNINFORMED])), "all_observers": _trends(held.of(**OVER[ALL]))}


def _trends(held: Estimates) -> Result:
    slopes = {}
    for role in ROLES:
        means = [(row["round"], row["mean"]) for row in _line(held, role)]
        slopes[role] = {
            **_slope(held.values("slope", role)),
            "paper_reading": theil_sen(means),
            "paper_reading_rounds": len(means),
        }
    return {"slopes": slopes, "separable": _first_separable(held)}


def _slope(values: list[float]) -> Result:
    if not values:
        reason = "there are no games of at least two rounds with such suspicion"
        return {"median": None, "low": None, "high": None, "n": 0, "reason": reason}
    low, high, why = of_games(values, "median")
    found: Result = {
        "median": median(values),
        "low": low,
        "high": high,
        "n": len(values),
        "reason": None,
    }
    return found if why is None else {**found, "interval_reason": why}


def _first_separable(held: Estimates) -> Result:
    rounds: list[Result] = []
    for round_ in held.entries.groups("difference", "round"):
        values = held.values("difference", round_)
        if not values:
            continue
        low, high, why = of_games(values, "mean")
        row: Result = {
            "round": round_,
            "difference": _mean(values),
            "low": low,
            "high": high,
            "n": len(values),
        }
        rounds.append(row if why is None else {**row, "interval_reason": why})
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
            last = judged[-1]["round"]
            reason = f"the interval of the difference is not above 0 in round {last}, the last one judged"
    return {"round": first, "reason": reason, "rounds": rounds}
