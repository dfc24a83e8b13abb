"""Whether suspicion drives votes, and what would have been had it (paper 4.5; metrics: does suspicion drive votes,
thresholds).

Abstentions hit nobody and follow nothing: they are counted apart, and so are votes of players who have not judged
anybody alive by then **[choice]**. In the counterfactual vote an observer who has not judged a player yet thinks of it
what the prior says **[choice]**: that pulls the means of those whom few have judged towards the prior; left out, one
observer's suspicion could exile alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

from analytics.metrics.formulas import quotient, ratio
from analytics.metrics.study import Scope, Study, rows_of
from analytics.metrics.sums import Axes, Figure, Sums, count, share, sums_of
from analytics.results import EVERYBODY, PAIRS, ResultRow

_UNVOTED: Final = "nobody but Werewolves voted for anybody"
_VOTED: Final = pl.col("target_role").is_not_null()


def hits(scope: Scope, axes: Axes | None = None) -> Iterator[Sums]:
    """Yield votes by others than Werewolves, those that name a Werewolf, and what a vote at random would have hit: for
    one of those of whom the voter cannot tell; over all votes, wolves / (living - 1).
    """
    wolves, among = ("other_wolves", "others") if scope.observers == EVERYBODY else ("unknown_wolves", "unknown")
    chance = pl.col(wolves) / pl.max_horizontal(1, pl.col(among))
    votes = scope.of(scope.study.tables.votes, "voter_agent").filter(pl.col("voter_role") != "Werewolf")
    yield sums_of(
        votes,
        scope.study.games,
        axes,
        hits=(pl.col("target_role") == "Werewolf").fill_null(value=False),
        votes=_VOTED,
        chance=pl.when(_VOTED).then(chance),
        abstentions=~_VOTED,
    )


def follows(scope: Scope) -> Iterator[Sums]:
    """Yield votes with their credit for naming whom the voter itself suspects most, and the chance of that."""
    credited = pl.col("credit").is_not_null()
    yield sums_of(
        scope.of(scope.study.tables.votes, "voter_agent"),
        scope.study.games,
        credit=pl.col("credit"),
        votes=credited,
        chance=pl.when(credited).then(1 / pl.col("others")),
        abstentions=~_VOTED,
        unjudged=_VOTED & ~credited,
    )


def concentrations(scope: Scope) -> Iterator[Sums]:
    """Yield votes in which somebody was named, with the greatest share of ballots for one name; whoever knew what."""
    named = Scope(scope.study, EVERYBODY, scope.agent).of(scope.study.tables.votes, "voter_agent").filter(_VOTED)
    for_whom = named.group_by("game", "round", "target", maintain_order=True).len()
    by_vote = for_whom.group_by("game", "round", maintain_order=True).agg(
        most=pl.col("len").max() / pl.col("len").sum()
    )
    yield sums_of(by_vote, scope.study.games, most=pl.col("most"), votings=1.0)


CONCENTRATION: Final = share("most", "votings", "no vote named anybody")
_CHANCE: Final = quotient("chance", "votes")
HIT: Final = share("hits", "votes", _UNVOTED, baseline=_CHANCE)
HIT_LIFT: Final = Figure(
    lambda s: ratio(s.hits - s.chance, s.votes), lambda s: s.votes, _UNVOTED, lambda s: 0.0 * s.votes
)
FOLLOWS: Final = share("credit", "votes", "nobody who had judged somebody alive voted for anybody", baseline=_CHANCE)


def vote_rows(study: Study) -> Iterator[ResultRow]:
    """Yield what stands beside the headline metrics of votes: counts, votes by round, and the vote that was not held.

    ``suspicion_exile``: had the living others than Werewolves exiled whom they suspect most (highest mean D), how often
    a Werewolf would have gone; ``real_exile``, how often one did in these same votes, 0 where nobody went, and
    ``real_exile_of_exiles`` of those that exiled somebody. Over votes before which one of them has judged somebody
    alive.
    """
    unheld = "no vote was held after one of the living others than Werewolves had judged somebody alive"
    for observers in PAIRS:
        scope = Scope(study, observers)
        for sums in follows(scope):
            counts = {"follow_abstentions": count("abstentions"), "follow_unjudged": count("unjudged")}
            yield from rows_of(study, observers, sums, counts)
        for sums in hits(scope):
            yield from rows_of(study, observers, sums, {"abstentions": count("abstentions")})
        for sums in hits(scope, {"round": "round"}):
            yield from rows_of(study, observers, sums, {"vote_hit": HIT, "abstentions": count("abstentions")})
        exile = pl.col("exile_of_all" if observers == EVERYBODY else "exile")
        sums = sums_of(
            study.tables.votings.filter(exile.is_not_null()),
            study.games,
            exile=exile,
            real=(pl.col("exiled") == "Werewolf").fill_null(value=False),
            chance=pl.col("wolves") / pl.max_horizontal(1, pl.col("living")),
            votings=1.0,
            exiles=pl.col("exiled").is_not_null(),
        )
        chance = quotient("chance", "votings")
        figures = {
            "suspicion_exile": share("exile", "votings", unheld, baseline=chance),
            "real_exile": share("real", "votings", unheld, baseline=chance),
            "real_exile_of_exiles": share("real", "exiles", "no such vote exiled anybody"),
        }
        yield from rows_of(study, observers, sums, figures)
