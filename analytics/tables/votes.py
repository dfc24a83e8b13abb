"""Votes: whether suspicion drives them, and what would have been had it (paper, section 4.5; metrics: does suspicion
drive votes, thresholds).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

from analytics.accumulator import Result
from analytics.game_sums import GameSums
from analytics.rows import GameRows, Pair, VoteRow
from wolfbus.messages.base import SeatName

TIE: Final = 1e-9
"""Suspicions that differ by less are equal: equal judgements in another order differ in the last bit."""

_OWN: Final = 5
_EXILE: Final = 5
_HIT: Final = 4

Row: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Ballots:
    """One vote with what everybody thought when it was held.

    Attributes:
        round: from 1.
        votes: the ballots.
        alive: who could be named, in seating order.
        suspicion: D after the day's last debate statement, of the pairs with a judgement so far.
        prior: D of all other pairs.
        exiled: who went; None if nobody did.
    """

    round: int
    votes: tuple[VoteRow, ...]
    alive: tuple[SeatName, ...]
    suspicion: Mapping[Pair, float]
    prior: float
    exiled: SeatName | None

    def most_suspect(self, observers: Collection[SeatName]) -> list[SeatName]:
        """Return the living whom these observers together suspect most; several if equal, none if they have not judged
        anybody who lives.
        """
        suspicion, prior, judged = self.suspicion, self.prior, False
        means: dict[SeatName, float] = {}
        for target in self.alive:
            rows = []
            for observer in observers:
                value = suspicion.get((observer, target))
                judged = judged or value is not None
                if observer != target:
                    rows.append(prior if value is None else value)
            if rows:
                means[target] = math.fsum(rows) / len(rows)
        if not judged:
            return []
        least = max(means.values()) - TIE
        return [target for target, mean in means.items() if mean >= least]


def ballots_of(game: GameRows) -> Iterator[Ballots]:
    """Yield a game's votes in order.

    Those whom no record says to have left by the end of the round's debate are alive.
    """
    suspicion: dict[Pair, float] = {}
    judgements = iter(game.judgements)
    pending = next(judgements, None)
    exiles = {death.round: death.seat for death in game.deaths if death.how == "exile"}
    for round_, votes in groupby(sorted(game.votes, key=lambda vote: vote.round), key=lambda vote: vote.round):
        while pending is not None and (pending.round, pending.phase == "vote") <= (round_, False):
            if pending.d is not None and pending.s is not None:
                suspicion[pending.observer, pending.target] = pending.after
            pending = next(judgements, None)
        gone = {
            death.seat
            for death in game.deaths
            if death.round < round_ or (death.round == round_ and death.how == "night")
        }
        alive = tuple(name for name in game.seats if name not in gone)
        yield Ballots(round_, tuple(votes), alive, dict(suspicion), game.prior, exiles.get(round_))


class Votes:
    """Votes against suspicion and against roles.

    Abstentions hit nobody and follow nothing: they are counted apart, and so are, under ``unjudged``, votes of players
    who have not judged anybody alive by then **[choice]**. In the counterfactual vote an observer who has not judged a
    player yet thinks of it what the prior says **[choice]**: that pulls the means of those whom few have judged towards
    the prior; left out, one observer's suspicion could exile alone.
    """

    def __init__(self) -> None:
        self._games: list[tuple[str, Row, Row, dict[int, Row]]] = []

    def add(self, game: GameRows, block: str | None = None) -> None:
        """Take in one game of a block of the design; of one of its own unless given."""
        own: list[Row] = []
        exiles: list[Row] = []
        hits: dict[int, list[Row]] = {}
        for held in ballots_of(game):
            wolves = sum(game.seats[name].role == "Werewolf" for name in held.alive)
            own += [_follows(vote, held) for vote in held.votes]
            hits[held.round] = [_hit(vote, held, wolves) for vote in held.votes if vote.voter_role != "Werewolf"]
            villagers = [name for name in held.alive if game.seats[name].role != "Werewolf"]
            suspects = held.most_suspect(villagers)
            if suspects:
                share = sum(game.seats[name].role == "Werewolf" for name in suspects) / len(suspects)
                real = held.exiled is not None and game.seats[held.exiled].role == "Werewolf"
                exiles.append((share, real, wolves / len(held.alive), 1, held.exiled is not None))
        # games without votes are drawn, too: so intervals are those of the headline metrics
        rounds = {round_: _total(rows, _HIT) for round_, rows in hits.items()}
        self._games.append((block or game.game, _total(own, _OWN), _total(exiles, _EXILE), rounds))

    def merge(self, other: Votes) -> None:
        """Add all that `other` holds."""
        self._games += list(other._games)

    def result(self) -> Result:
        """Return estimates with their block-bootstrap 95 % intervals (paper 4.5; metrics: does suspicion drive votes,
        thresholds).

        - ``own_argmax``: share of votes for whom the voter itself suspects most by its smoothed D after the day's last
          debate statement; of m equals each counts 1/m. ``chance`` is that of a vote at random, 1 / (living - 1).
        - ``hits``: share of votes by others than Werewolves that name a Werewolf, also ``hits_by_round``; ``chance`` is
          wolves / (living - 1).
        - ``counterfactual``: had the living others than Werewolves exiled whom they suspect most (highest mean D), how
          often a Werewolf would have gone (``suspicion_exile``, equals split); how often one did go in these same votes
          (``real_exile``, 0 where nobody went; ``real_exile_of_exiles``: of those votes that exiled somebody), and the
          ``chance``, wolves / living. Over votes before which one of them has judged somebody alive; who has not judged
          a player counts for the mean with the prior.
        """
        rounds = sorted({round_ for *_, hits in self._games for round_ in hits})
        none = (0.0,) * _HIT
        wide = (
            (
                block,
                (
                    *(*own, *exiles, *_total(list(hits.values()), _HIT)),
                    *(part for round_ in rounds for part in hits.get(round_, none)),
                ),
            )
            for block, own, exiles, hits in self._games
        )
        first = _OWN + _EXILE + _HIT
        sums = GameSums(wide, first + _HIT * len(rounds))
        unheld = "no vote was held after one of the living others than Werewolves had judged somebody alive"
        return {
            "own_argmax": {
                **sums.rate(0, 1, "nobody who had judged somebody alive voted for anybody"),
                "chance": sums.share(2, 1),
                "abstentions": sums.count(3),
                "unjudged": sums.count(4),
            },
            "hits": _hit_rate(sums, _OWN + _EXILE),
            "hits_by_round": {
                str(round_): _hit_rate(sums, first + _HIT * place) for place, round_ in enumerate(rounds)
            },
            "counterfactual": {
                "suspicion_exile": sums.rate(_OWN, _OWN + 3, unheld),
                "real_exile": sums.rate(_OWN + 1, _OWN + 3, unheld),
                "real_exile_of_exiles": sums.rate(_OWN + 1, _OWN + 4, "no such vote exiled anybody"),
                "chance": sums.share(_OWN + 2, _OWN + 3),
                "votes": sums.count(_OWN + 3),
            },
        }


def _hit_rate(sums: GameSums, at: int) -> Result:
    found = sums.rate(at, at + 1, "nobody but Werewolves voted for anybody")
    return {**found, "chance": sums.share(at + 2, at + 1), "abstentions": sums.count(at + 3)}


def _follows(vote: VoteRow, held: Ballots) -> Row:
    """Return credit, votes, chance, abstentions and unjudged ones of a ballot."""
    if vote.target is None:
        return 0, 0, 0, 1, 0
    suspects = held.most_suspect([vote.voter])
    if not suspects:
        return 0, 0, 0, 0, 1
    others = len(held.alive) - (vote.voter in held.alive)
    return (1 / len(suspects) if vote.target in suspects else 0.0), 1, 1 / others, 0, 0


def _hit(vote: VoteRow, held: Ballots, wolves: int) -> Row:
    """Return hits, votes, chance and abstentions of a ballot."""
    if vote.target is None:
        return 0, 0, 0, 1
    return vote.target_role == "Werewolf", 1, wolves / max(1, len(held.alive) - 1), 0


def _total(rows: Sequence[Row], width: int) -> Row:
    # correctly rounded, so that the order of the seats leaves no trace
    return tuple(math.fsum(row[place] for row in rows) for place in range(width))
