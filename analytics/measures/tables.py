"""The paper's tables and figures, from sums (paper, sections 4.5 and 5.2-5.9; metrics: tables and
figures of the paper).

Every function returns plain values that JSON takes as they stand. Undefined is None, never 0 and
never NaN; every mean has its own denominator beside it. `intervals_of_tables` gives the intervals
of what has none in the tables themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.columns import CLAIMS, HOW, NIGHTS, PROTOCOLS, VERDICTS
from analytics.measures.bootstrap import of_games, wilson
from analytics.measures.estimates import Estimates, Leaf
from analytics.measures.families import LENGTHS, theil_sen
from analytics.measures.formulas import MEASURES, Confusion, number, ratio, roc_area
from analytics.measures.frames import Frame, Group
from wolfbus.vocabulary import DECEPTIONS, ROLES

if TYPE_CHECKING:
    from analytics.columns import Array

ENOUGH_GAMES: Final = 10
"""Games a round needs before its difference is judged."""

_OVERALL: Final = (*ROLES, "overall")


def tables(held: Estimates) -> Result:
    """Return all tables of the games by name."""
    return {name: table(held) for name, table in TABLES.items()}


def _int(value: Array | float) -> int:
    return round(float(value))


def _named(name: str) -> str | None:
    """Return the role that a row is about, None for the row over all."""
    return None if name == "overall" else name


def outcomes(held: Estimates) -> Result:
    """Return shares with Wilson 95 % intervals, and mean ± sd per game (paper 5.2; metrics:
    outcomes).

    Shares and per-game means are over finished games: a game that was cut off has no outcome and no
    length yet. Totals are over all. A turn of debate in which nothing was said is a turn but no
    statement; judgements are those that count. ``protocols`` counts all games by how model players
    were asked; ``mixed_protocols`` tells that there are games of more than one, whose numbers are
    not of one measurement.
    """
    total = held.total
    states = ("villagers", "werewolves", "nobody")
    winners = dict(zip(states, total.cube("game", ("state", states)).tolist(), strict=True))
    finished = _int(sum(winners.values()))
    protocols = total.cube("game", ("protocol", PROTOCOLS)).tolist()
    reasons = sorted(held.entries.groups("ending", "reason"))
    endings = total.cube("ending", ("reason", reasons)).tolist()
    return {
        "games": len(held.sums.ids),
        "finished": finished,
        "unfinished": len(held.sums.ids) - finished,
        "protocols": {name: _int(count) for name, count in zip(PROTOCOLS, protocols, strict=True)},
        "mixed_protocols": sum(count > 0 for count in protocols) > 1,
        "winners": {winner: _share(_int(winners[winner]), finished) for winner in states},
        "endings": {name: _int(count) for name, count in zip(reasons, endings, strict=True)},
        "per_game": {name: _length(total, name, finished) for name in LENGTHS},
    }


def _length(total: Frame, name: str, n: int) -> Result:
    of_all, of_finished = (_int(total.cube("length", what=name, finished=only)) for only in (None, 1))
    # whole numbers until the last division: the spread of equal lengths is exactly 0
    scaled = n * _int(total.cube("square", what=name)) - of_finished * of_finished
    return {
        "mean": of_finished / n if n else None,
        "sd": math.sqrt(scaled / (n * (n - 1))) if n > 1 else None,
        "n": n,
        "total": of_all,
    }


def _share(k: int, n: int) -> Result:
    low, high = wilson(k, n) or (None, None)
    return {"k": k, "n": n, "share": k / n if n else None, "low": low, "high": high}


def production(held: Estimates) -> Result:
    """Return how often speakers call their own statements deceptive (paper 4.5, 5.2, 5.3; metrics:
    production).

    The mean of d over statements with a self-label that counts: overall (the base rate) and by
    role, brain, agent (process), round and phase. Roles and phases are all there, with a null rate
    where n = 0.
    """
    return {
        "overall": _rate(held.total.cube("said", "label")),
        **{
            f"by_{name}": {str(value): _rate(held.total.cube(family, "label", **{axis: value})) for value in values}
            for name, (family, axis, values) in _splits(held).items()
        },
    }


def _splits(held: Estimates) -> dict[str, tuple[str, str, Sequence[Group]]]:
    """Return what production is split by, each with its family, axis and values."""

    def there(family: str, axis: str) -> list[Group]:
        return [
            value
            for value in held.entries.groups(family, axis)
            if held.total.cube(family, "label", **{axis: value}).sum()
        ]

    return {
        "role": ("said", "role", ROLES),
        "brain": ("said", "agent", there("said", "agent")),
        "agent": ("spoken", "process", there("spoken", "process")),
        "round": ("spoken", "round", there("spoken", "round")),
        "phase": ("spoken", "phase", ("debate", "vote")),
    }


def _rate(counts: Array) -> Result:
    return {
        "rate": number(ratio(counts[1], counts.sum())),
        "deceptive": _int(counts[1]),
        "n": _int(counts.sum()),
    }


def _received(total: Frame, **where: Group) -> Result:
    """Return average suspicion and average share of flags, each with the number of statements it is
    over.

    Averages are over statements of the mean over observers, so that a statement heard by many
    weighs no more than one heard by few.
    """
    suspicion, n, flagged, m = total.cube("received", _PARTS, **where)
    return {
        "suspicion": number(ratio(suspicion, n)),
        "suspicion_n": _int(n),
        "flagged": number(ratio(flagged, m)),
        "flagged_n": _int(m),
    }


_PARTS: Final = ("part", ("suspicion", "suspicion_n", "flagged", "flagged_n"))


def table1(held: Estimates) -> Result:
    """Return deception and its reception, a row per speaker role and one overall (paper 5.3, Table
    1; metrics: Table 1).

    ``statements`` are all, ``labelled`` those with a self-label that counts, ``deceptive`` the sum
    of d over these; ``suspicion_n`` and ``flagged_n`` are statements with at least one judgement
    that counts.
    """
    found = {}
    for name in _OVERALL:
        unlabelled, truthful, deceptive = held.total.cube("said", ("label", (-1, 0, 1)), role=_named(name)).tolist()
        found[name] = {
            "statements": _int(unlabelled + truthful + deceptive),
            "labelled": _int(truthful + deceptive),
            "deceptive": _int(deceptive),
            **_received(held.total, role=_named(name)),
        }
    return found


def table2(held: Estimates) -> Result:
    """Return ``[observer role][target role]`` cells of mean, n games and number of pairs (paper
    4.5, 5.4; metrics: Table 2).

    Mean final D over the pairs of a cell within a game, then over the games that have the cell. D
    is final because it froze: when one of the pair left, or when the game ended. A game that still
    runs counts with D as it stands. Villager-Villager and Werewolf-Werewolf are filled; a cell
    without pairs has a null mean.
    """
    sums, games, pairs = (
        held.total.cube("cell", "role", "target_role", part=part) for part in ("mean", "games", "pairs")
    )
    return {
        observer: {
            target: {
                "mean": number(ratio(sums[at, to], games[at, to])),
                "n": _int(games[at, to]),
                "pairs": _int(pairs[at, to]),
            }
            for to, target in enumerate(ROLES)
        }
        for at, observer in enumerate(ROLES)
    }


def table3(held: Estimates) -> Result:
    """Return how well observers find the deception that speakers admit, by observer role and
    ``overall`` (paper 4.5, 5.5, Table 3; metrics: Table 3).

    Every judgement that counts against the self-label of its statement, where that counts too.

    - ``f1`` needs precision and recall to be defined: an observer who never flags has none.
    - ``balanced_accuracy`` (mean of both classes' recall), ``dprime`` and ``criterion`` need both
      classes; ``mcc`` also needs an observer that both flags and does not.
    - ``base_rate`` is the share of deceptive statements among those judged; ``constant_accuracy``
      that of the better of the guesses "always deceptive" and "never", which detection has to beat.
    - ``dprime`` = z(hit rate) - z(false-alarm rate) and ``criterion`` = minus their mean, with the
      log-linear correction: 0.5 more of each count, 1 more of each total.
    """
    return {
        name: Confusion.of(held.total.cube("flags", "label", "flag", role=_named(name))).measures() for name in _OVERALL
    }


def table5(held: Estimates) -> Result:
    """Return how each self-labelled kind is received, and all of them (paper 5.8, Table 5; metrics:
    Table 5).

    Only statements with a self-label that counts; "unspecified" are those called deceptive without
    a kind.
    """
    found = {}
    for name in (*DECEPTIONS, "overall"):
        count = held.total.cube("received", "kind", part="count", role=None)
        kinds = held.total.cube("received", "kind", _PARTS)
        at = slice(None) if name == "overall" else slice(DECEPTIONS.index(name), DECEPTIONS.index(name) + 1)
        suspicion, n, flagged, m = kinds[at].sum(axis=0)
        found[name] = {
            "count": _int(count[at].sum()),
            "suspicion": number(ratio(suspicion, n)),
            "suspicion_n": _int(n),
            "flagged": number(ratio(flagged, m)),
            "flagged_n": _int(m),
        }
    return found


def figure1(held: Estimates) -> Result:
    """Return Figure 1's lines (paper 5.6; metrics: Figure 1).

    ``suspicion[target role]``: per round the mean over games of the game's mean D over pairs alive
    when the round's last judgement was joined, with a judgement so far; sem over games (null below
    2), n games. ``flagged``: per round the share of judgements that flag, n judgements.
    """
    rounds = held.entries.groups("round_flags", "round")
    flags = held.total.cube("round_flags", ("round", rounds), "flag").tolist()
    return {
        "suspicion": {role: _line(held, role) for role in ROLES},
        "flagged": [
            {
                "round": round_,
                "share": flagged / (passed + flagged),
                "flagged": _int(flagged),
                "n": _int(passed + flagged),
            }
            for round_, (passed, flagged) in zip(rounds, flags, strict=True)
        ],
    }


def _line(held: Estimates, role: str) -> list[Result]:
    found = []
    for round_ in held.entries.groups("line", "round"):
        values = held.entries.values("line", role, round_)
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
    """
    slopes = {}
    for role in ROLES:
        means = [(row["round"], row["mean"]) for row in _line(held, role)]
        slopes[role] = {
            **_slope(held.entries.values("slope", role)),
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
        values = held.entries.values("difference", round_)
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


def _parts_of(name: str, **where: Group) -> Callable[[Frame], tuple[Array, Array]]:
    """Return the quotient of the ``sum`` and the ``n`` of a family."""

    def quotient(frame: Frame) -> tuple[Array, Array]:
        parts = frame.cube(name, ("part", ("sum", "n")), **where)
        return parts[..., 0], parts[..., 1]

    return quotient


def events(held: Estimates) -> Result:
    """Return suspicion around events, each an estimate with its block-bootstrap 95 % interval
    (paper 5.3; metrics: events).

    Suspicion of a statement is the mean over its observers, as in Table 1. Whoever claims while
    really a Seer counts; a Seer who never does has no "before" and is left out **[choice]**. A
    claim is a role claim about oneself, given by the speaker or extracted from its words.

    ``seer``: statements ``before``, and from, the claim (``after``), pooled over games;
    ``difference`` is the mean over the ``games`` that have both of after minus before. ``doctor``:
    statements of a day after a night whose kill was ``blocked``, and of one whose kill went through
    (``killed``), pooled; ``difference`` is blocked minus killed. n counts statements, for the
    Seer's difference games. Nights are counted whether or not a Doctor spoke on the day after;
    those ``without_attempt`` count for neither.
    """
    no_claim = "no Seer who claims in public to be one has a judged statement of this sort"
    no_night = "no Doctor has a judged statement on a day after such a night"
    of = {name: _parts_of("event", condition=name) for name in ("before", "after", "blocked", "killed")}
    change = held.rate(_parts_of("change"), "no game has judged statements of its Seer before and after the claim")
    silent, claimed = held.total.cube("seers", ("claimed", (0, 1))).tolist()
    nights = held.total.cube("night", ("night", NIGHTS)).tolist()
    return {
        "seer": {
            "before": held.rate(of["before"], no_claim),
            "after": held.rate(of["after"], no_claim),
            "difference": change,
            "games": change["n"],
            "claimed": _int(claimed),
            "silent": _int(silent),
        },
        "doctor": {
            "blocked": held.rate(of["blocked"], no_night),
            "killed": held.rate(of["killed"], no_night),
            "difference": held.difference(
                of["blocked"],
                of["killed"],
                "there are no judged statements of a Doctor after nights of both sorts",
            ),
            **{f"nights_{name}": _int(nights[NIGHTS.index(name)]) for name in ("blocked", "killed", "without_attempt")},
        },
    }


def votes(held: Estimates) -> Result:
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
      ``hits_by_round``; ``chance`` is wolves / (living - 1).
    - ``counterfactual``: had the living others than Werewolves exiled whom they suspect most
      (highest mean D), how often a Werewolf would have gone (``suspicion_exile``, equals split);
      how often one did go in these same votes (``real_exile``, 0 where nobody went;
      ``real_exile_of_exiles``: of those votes that exiled somebody), and the ``chance``, wolves /
      living. Over votes before which one of them has judged somebody alive; who has not judged a
      player counts for the mean with the prior.
    """
    total = held.total
    unheld = "no vote was held after one of the living others than Werewolves had judged somebody alive"

    def exile(above: str, below: str = "n") -> Callable[[Frame], tuple[Array, Array]]:
        return lambda frame: (frame.cube("exile", part=above), frame.cube("exile", part=below))

    return {
        "own_argmax": {
            **held.rate(_parts_of("follows"), "nobody who had judged somebody alive voted for anybody"),
            **_beside(total, "follows", "abstentions", "unjudged"),
        },
        "hits": _hits(held),
        "hits_by_round": {str(round_): _hits(held, round_) for round_ in held.entries.groups("hits", "round")},
        "counterfactual": {
            "suspicion_exile": held.rate(exile("sum"), unheld),
            "real_exile": held.rate(exile("real"), unheld),
            "real_exile_of_exiles": held.rate(exile("real", "exiled"), "no such vote exiled anybody"),
            "chance": number(ratio(*exile("chance")(total))),
            "votes": _int(total.cube("exile", part="n")),
        },
    }


def _hits(held: Estimates, round_: int | None = None) -> Result:
    found = held.rate(_parts_of("hits", round=round_), "nobody but Werewolves voted for anybody")
    return {**found, **_beside(held.total, "hits", "abstentions", round=round_)}


def _beside(total: Frame, name: str, *counts: str, **where: Group) -> Result:
    chance, n = (total.cube(name, part=part, **where) for part in ("chance", "n"))
    return {
        "chance": number(ratio(chance, n)),
        **{part: _int(total.cube(name, part=part, **where)) for part in counts},
    }


def claims(held: Estimates) -> Result:
    """Return ``given`` and ``extracted`` (totals), and ``by_kind``: for each kind of claim the same
    two, each with its total ``n`` and the verdicts (metrics: objective truth).

    Accusations are counted here, but are opinions and decide nothing; extracted ones that repeat
    what the speaker attached are not counted twice.
    """
    counts = held.total.cube("claims", ("claim", CLAIMS), ("extracted", (0, 1)), ("verdict", VERDICTS))
    by_kind = {
        kind: {
            name: {
                "n": _int(row.sum()),
                **{each: _int(n) for each, n in zip(VERDICTS, row, strict=True)},
            }
            for name, row in zip(("given", "extracted"), both, strict=True)
        }
        for kind, both in zip(CLAIMS, counts, strict=True)
    }
    return {
        **{name: _int(counts[:, at].sum()) for at, name in enumerate(("given", "extracted"))},
        "by_kind": by_kind,
    }


def labels(held: Estimates) -> Result:
    """Return how self-labels and judgements were come by: ``total`` = ``clean`` + ``repaired``
    (accepted, but not clean) + ``defaulted`` (all others). What is still awaited is not counted.
    """
    counts = held.total.cube("labels", "how").tolist()
    return {
        "total": _int(sum(counts)),
        **{name: _int(count) for name, count in zip(HOW, counts, strict=True)},
    }


def headline(held: Estimates) -> Result:
    """Return detection accuracy and suspicion's AUC against self-labels over ``all`` replies and
    over ``clean`` ones, each with its n (metrics: repair report).

    A judgement is clean if it and the self-label that it is held against were accepted as they
    stood.
    """
    scores = held.entries.groups("scores", "score")
    found = {}
    for name, family, clean in (("all", "flags", None), ("clean", "clean_flags", 1)):
        measures = Confusion.of(held.total.cube(family, "label", "flag")).measures()
        counts = held.total.cube("scores", "label", ("score", scores), clean=clean)
        found[name] = {
            **{key: measures[key] for key in ("n", "accuracy", "balanced_accuracy", "base_rate", "constant_accuracy")},
            "auc": number(roc_area(counts)),
            "auc_n": _int(counts.sum()),
        }
    return found


TABLES: Final[Mapping[str, Callable[[Estimates], Result]]] = {
    table.__name__: table
    for table in (
        *(outcomes, production, table1, table2, table3, table5, figure1, trends, events, votes),
        *(claims, labels, headline),
    )
}
"""The sections of the findings that are formulas of sums alone, in their order."""
SINGLE: Final[Mapping[str, str]] = {
    "line": "target_role round",
    "slope": "target_role",
    "difference": "round",
    "event": "condition part",
    "change": "part",
    "hits": "round part",
    "follows": "part",
    "exile": "part",
}
"""Families of which these sections need more than totals, and on which axes: spreads and intervals
are over games.
"""


# -- intervals of what has none in the tables


def intervals_of_tables(held: Estimates) -> Result:
    """Return a 95 % interval for the figures of Tables 1, 2 and 5, of production, and of flags
    against claims, few of which `variability` holds (paper 5.9; metrics: variability).

    Each leaf is ``[low, high]``, or None where the figure has no interval. ``deceptive_share`` is
    the share of labelled statements that are called deceptive.
    """

    def received(what: str, *, every: bool = False, **where: Group) -> Leaf:
        return held.leaf_of(
            lambda frame: (
                _known(frame, every=every, part=what, **where),
                _known(frame, every=every, part=f"{what}_n", **where),
            )
        )

    def rate(family: str, **where: Group) -> Leaf:
        return held.leaf_of(lambda frame: _deceptive(frame, family, **where))

    return {
        "table1": {
            name: {
                **{what: received(what, every=True, role=_named(name)) for what in ("suspicion", "flagged")},
                "deceptive_share": rate("said", role=_named(name)),
            }
            for name in _OVERALL
        },
        "table2": {observer: {target: _cell(held, observer, target) for target in ROLES} for observer in ROLES},
        "table5": {
            name: {what: received(what, kind=_named(name)) for what in ("suspicion", "flagged")}
            for name in (*DECEPTIONS, "overall")
        },
        "production": {
            f"by_{name}": {str(value): rate(family, **{axis: value}) for value in values}
            for name, (family, axis, values) in _splits(held).items()
            if name != "agent"
        },
        "truth_detection": {"against_truth": _against_truth(held)},
    }


def _known(frame: Frame, *, every: bool, **where: Group) -> Array:
    """Return received sums of statements of a known kind, of every one if asked for."""
    if every:
        return frame.cube("received", **where)
    found: Array = frame.cube("received", "kind", **where).sum(axis=-1)
    return found


def _deceptive(frame: Frame, family: str, **where: Group) -> tuple[Array, Array]:
    counts = frame.cube(family, "label", **where)
    return counts[..., 1], counts.sum(axis=-1)


def _cell(held: Estimates, observer: str, target: str) -> Leaf:
    def quotient(frame: Frame) -> tuple[Array, Array]:
        parts = frame.cube("cell", ("part", ("mean", "games")), role=observer, target_role=target)
        return parts[..., 0], parts[..., 1]

    return held.leaf_of(quotient)


def _against_truth(held: Estimates) -> dict[str, Leaf]:
    def counts(frame: Frame) -> Array:
        found: Array = frame.cube("truths", "label", "false", "flag").sum(axis=-3)
        return found

    return {
        name: held.leaf(
            lambda frame, formula=formula: formula(counts(frame)),  # type: ignore[misc]
            lambda frame: counts(frame).sum(axis=(-1, -2)),
        )
        for name, formula in MEASURES.items()
    }
