"""Suspicion in the course of games: round by round (Figure 1 and its trends), around claims and nights, and what
votes make of it (paper, sections 4.5, 5.3 and 5.6).

Undefined is None, never 0 and never NaN; every mean has its own denominator beside it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Final

from analytics import Result
from analytics.measures.bootstrap import estimate, game_interval
from analytics.measures.formulas import as_count, number, theil_sen
from analytics.measures.frames import MOVED, Frame, Group, quotient
from analytics.measures.sums import Estimates, over_both
from analytics.rows import NIGHTS
from wolfbus.vocabulary import ROLES

ENOUGH_GAMES: Final = 10
"""Games a round needs before its difference is judged."""


@over_both
def figure1(estimates: Estimates) -> Result:
    """Return Figure 1's lines (paper 5.6; metrics: Figure 1).

    ``suspicion[target role]``: per round the mean over games of the game's mean D over pairs alive
    when the round's last judgement was joined, with a judgement so far; sem over games (null below
    2), n games. ``raw``: the same of the round's suspicions as they were given, not smoothed.
    ``flagged``: per round the share of judgements that flag, n judgements.

    Lines also move because of who is left. ``moved[target role]`` takes the change from the round
    before apart, in games that have a pair in both rounds: ``within`` these pairs, the mean over
    games of the mean change of their D, and by the ``makeup`` of the pairs, the rest.

    Over uninformed pairs (`analytics.measures.frames`); ``all_observers``: the same over all, as in
    the paper.
    """
    rounds = estimates.groups("round_flags", "round")
    flags = estimates.total.cube("round_flags", ("round", rounds), "flag").tolist()
    return {
        "suspicion": {role: _line(estimates, role) for role in ROLES},
        "raw": {role: _line(estimates, role, "raw_line") for role in ROLES},
        "moved": {role: _moved(estimates, role) for role in ROLES},
        "flagged": [
            {
                "round": round_,
                "share": flagged / (passed + flagged),
                "flagged": as_count(flagged),
                "n": as_count(passed + flagged),
            }
            for round_, (passed, flagged) in zip(rounds, flags, strict=True)
            if passed + flagged
        ],
    }


def _moved(estimates: Estimates, role: str) -> list[Result]:
    points = []
    for round_ in estimates.groups("moved", "round"):
        within, makeup = (estimates.by_game("moved", role, round_, what) for what in MOVED)
        if within:
            means = {"within": _mean(within), "within_sem": _sem(within), "makeup": _mean(makeup)}
            points.append({"round": round_, **means, "makeup_sem": _sem(makeup), "n": len(within)})
    return points


def _line(estimates: Estimates, role: str, family: str = "line") -> list[Result]:
    points = []
    for round_ in estimates.groups(family, "round"):
        values = estimates.by_game(family, role, round_)
        if values:
            points.append({"round": round_, "mean": _mean(values), "sem": _sem(values), "n": len(values)})
    return points


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _sem(values: Sequence[float]) -> float | None:
    n, mean = len(values), _mean(values)
    if n < 2:
        return None
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (n - 1)) / math.sqrt(n)


@over_both
def trends(estimates: Estimates) -> Result:
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
    slopes = {}
    for role in ROLES:
        means = [(row["round"], row["mean"]) for row in _line(estimates, role)]
        slopes[role] = {
            **_slope(estimates.by_game("slope", role)),
            "paper_reading": theil_sen(means),
            "paper_reading_rounds": len(means),
        }
    return {"slopes": slopes, "separable": _first_separable(estimates)}


def _slope(values: list[float]) -> Result:
    reason = "there are no games of at least two rounds with such suspicion"
    slope = estimate(median(values) if values else None, len(values), game_interval(values, "median"), reason)
    return {"median": slope.pop("value"), **slope}


def _first_separable(estimates: Estimates) -> Result:
    rounds: list[Result] = []
    for round_ in estimates.groups("difference", "round"):
        values = estimates.by_game("difference", round_)
        if not values:
            continue
        low, high, why = game_interval(values, "mean")
        row: Result = {"round": round_, "difference": _mean(values), "low": low, "high": high, "n": len(values)}
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


def events(estimates: Estimates) -> Result:
    """Return suspicion around events, each an estimate with its block-bootstrap 95 % interval
    (paper 5.3; metrics: events).

    Suspicion of a statement is the mean over its observers, as in Table 1. Whoever claims while
    really a Seer counts; a Seer who never does has no "before" and is left out **[choice]**. A
    claim is a role claim about oneself that can be heard in the words, whether attached or not.

    ``seer``: statements ``before``, and from, the claim (``after``), pooled over games;
    ``difference`` is the mean over the ``games`` that have both of after minus before. ``doctor``:
    statements of a day after a night whose kill was ``blocked``, and of one whose kill went through
    (``killed``), pooled; ``difference`` is blocked minus killed. n counts statements, for the
    Seer's difference games. Nights are counted whether or not a Doctor spoke on the day after;
    those ``without_attempt`` count for neither.
    """
    no_claim = "no Seer who claims in public to be one has a judged statement of this sort"
    no_night = "no Doctor has a judged statement on a day after such a night"
    conditions = {name: quotient("event", condition=name) for name in ("before", "after", "blocked", "killed")}
    change = estimates.figure(
        quotient("change"), "no game has judged statements of its Seer before and after the claim"
    )
    silent, claimed = estimates.total.cube("seers", ("claimed", (0, 1))).tolist()
    nights = estimates.total.cube("night", ("night", NIGHTS)).tolist()
    return {
        "seer": {
            "before": estimates.figure(conditions["before"], no_claim),
            "after": estimates.figure(conditions["after"], no_claim),
            "difference": change,
            "games": change["n"],
            "claimed": as_count(claimed),
            "silent": as_count(silent),
        },
        "doctor": {
            "blocked": estimates.figure(conditions["blocked"], no_night),
            "killed": estimates.figure(conditions["killed"], no_night),
            "difference": estimates.difference(
                conditions["blocked"],
                conditions["killed"],
                "there are no judged statements of a Doctor after nights of both sorts",
            ),
            **{
                f"nights_{name}": as_count(nights[NIGHTS.index(name)])
                for name in ("blocked", "killed", "without_attempt")
            },
        },
    }


@over_both
def votes(estimates: Estimates) -> Result:
    """Return whether suspicion drives votes, and what would have been had it, as estimates with
    their block-bootstrap 95 % intervals (paper 4.5; metrics: does suspicion drive votes,
    thresholds).

    Abstentions hit nobody and follow nothing: they are counted apart, and so are, under
    ``unjudged``, votes of players who have not judged anybody alive by then **[choice]**. In the
    counterfactual vote an observer who has not judged a player yet thinks of it what the prior says
    **[choice]**: that pulls the means of those whom few have judged towards the prior; left out,
    one observer's suspicion could exile alone.

    - ``own_argmax``: share of votes for whom the voter itself suspects most by its smoothed D after
      the day's last debate statement; of m equals each counts 1/m. ``chance`` is that of a vote at
      random, 1 / (living - 1).
    - ``hits``: share of votes by others than Werewolves that name a Werewolf, also
      ``hits_by_round``; ``chance`` is that of a vote at random for one of those of whom the voter
      cannot tell; over all votes, wolves / (living - 1).
    - ``counterfactual``: had the living others than Werewolves exiled whom they suspect most
      (highest mean D), how often a Werewolf would have gone (``suspicion_exile``, equals split);
      how often one did go in these same votes (``real_exile``, 0 where nobody went;
      ``real_exile_of_exiles``: of those votes that exiled somebody), and the ``chance``, wolves /
      living. Over votes before which one of them has judged somebody alive; who has not judged a
      player counts for the mean with the prior.

    Over votes for those of whom the voter cannot tell whether they are Werewolves, and for the
    counterfactual vote over suspicion by observers who could not tell when they last judged;
    ``all_observers``: the same over all, as in the paper.
    """
    total = estimates.total
    unheld = "no vote was held after one of the living others than Werewolves had judged somebody alive"

    return {
        "own_argmax": {
            **estimates.figure(quotient("follows"), "nobody who had judged somebody alive voted for anybody"),
            **_chance_and_counts(total, "follows", "abstentions", "unjudged"),
        },
        "hits": _hits(estimates),
        "hits_by_round": {
            str(round_): _hits(estimates, round_)
            for round_ in estimates.groups("hits", "round")
            if total.cube("hits", round=round_, part="n") or total.cube("hits", round=round_, part="abstentions")
        },
        "counterfactual": {
            "suspicion_exile": estimates.figure(quotient("exile"), unheld),
            "real_exile": estimates.figure(quotient("exile", "real"), unheld),
            "real_exile_of_exiles": estimates.figure(
                quotient("exile", "real", "exiled"), "no such vote exiled anybody"
            ),
            "chance": number(quotient("exile", "chance")(total)),
            "votes": as_count(total.cube("exile", part="n")),
        },
    }


def _hits(estimates: Estimates, round_: int | None = None) -> Result:
    hits = estimates.figure(quotient("hits", round=round_), "nobody but Werewolves voted for anybody")
    return {**hits, **_chance_and_counts(estimates.total, "hits", "abstentions", round=round_)}


def _chance_and_counts(total: Frame, name: str, *counts: str, **where: Group) -> Result:
    return {
        "chance": number(quotient(name, "chance", "n", **where)(total)),
        **{part: as_count(total.cube(name, part=part, **where)) for part in counts},
    }
