"""Suspicion around claims and nights, and what votes make of it (paper, sections 4.5 and 5.3).

Undefined is None, never 0 and never NaN; every mean has its own denominator beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from analytics import Result
from analytics.columns import NIGHTS
from analytics.measures.estimates import Estimates
from analytics.measures.formulas import number, ratio, whole
from analytics.measures.frames import Frame, Group
from analytics.measures.pairs import ALL, OVER, UNINFORMED

if TYPE_CHECKING:
    from analytics.columns import Array


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
            "claimed": whole(claimed),
            "silent": whole(silent),
        },
        "doctor": {
            "blocked": held.rate(of["blocked"], no_night),
            "killed": held.rate(of["killed"], no_night),
            "difference": held.difference(
                of["blocked"],
                of["killed"],
                "there are no judged statements of a Doctor after nights of both sorts",
            ),
            **{
                f"nights_{name}": whole(nights[NIGHTS.index(name)]) for name in ("blocked", "killed", "without_attempt")
            },
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
      ``hits_by_round``; ``chance`` is that of a vote at random for one of those of whom the voter
      cannot tell; over all votes, wolves / (living - 1).
    - ``counterfactual``: had the living others than Werewolves exiled whom they suspect most
      (highest mean D), how often a Werewolf would have gone (``suspicion_exile``, equals split);
      how often one did go in these same votes (``real_exile``, 0 where nobody went;
      ``real_exile_of_exiles``: of those votes that exiled somebody), and the ``chance``, wolves /
      living. Over votes before which one of them has judged somebody alive; who has not judged a
      player counts for the mean with the prior.

    Over votes for those of whom the voter cannot tell whether they are Werewolves, and for the
    counterfactual vote over suspicion of such; ``all_observers``: the same over all, as in the paper.
    """
    return {**_votes(held.of(**OVER[UNINFORMED])), "all_observers": _votes(held.of(**OVER[ALL]))}


def _votes(held: Estimates) -> Result:
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
        "hits_by_round": {
            str(round_): _hits(held, round_)
            for round_ in held.entries.groups("hits", "round")
            if total.cube("hits", round=round_, part="n") or total.cube("hits", round=round_, part="abstentions")
        },
        "counterfactual": {
            "suspicion_exile": held.rate(exile("sum"), unheld),
            "real_exile": held.rate(exile("real"), unheld),
            "real_exile_of_exiles": held.rate(exile("real", "exiled"), "no such vote exiled anybody"),
            "chance": number(ratio(*exile("chance")(total))),
            "votes": whole(total.cube("exile", part="n")),
        },
    }


def _hits(held: Estimates, round_: int | None = None) -> Result:
    found = held.rate(_parts_of("hits", round=round_), "nobody but Werewolves voted for anybody")
    return {**found, **_beside(held.total, "hits", "abstentions", round=round_)}


def _beside(total: Frame, name: str, *counts: str, **where: Group) -> Result:
    chance, n = (total.cube(name, part=part, **where) for part in ("chance", "n"))
    return {
        "chance": number(ratio(chance, n)),
        **{part: whole(total.cube(name, part=part, **where)) for part in counts},
    }
