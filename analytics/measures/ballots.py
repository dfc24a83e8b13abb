"""What voters thought when they voted (paper, section 4.5; metrics: does suspicion drive votes,
thresholds).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics.measures.formulas import ratio
from analytics.measures.frames import ALL, Pairs
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.columns import Array, Columns

WOLF: Final = ROLES.index("Werewolf")
TIE: Final = 1e-9
"""Suspicions that differ by less are equal: equal judgements in another order differ in the last
bit.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Ballots:
    """Every vote that was held, and every ballot of it.

    Attributes: held: which vote each row of ``columns.votes`` belongs to. game: of each vote.
        living: how many were alive at each vote. wolves: how many of them were Werewolves. others:
        for each ballot, how many the voter could name. credit: for each ballot 1/m if it is for one
        of the m living others whom the voter suspects most (by D after the
            day's last debate statement), else 0; NaN for an abstention, and for a voter who has not
            judged anybody alive.
        exile: of each vote, the share of Werewolves among those whom the living others suspect most
            together (highest mean D, the prior where one has not judged a player yet); NaN where
            none of them has judged anybody alive.
        exiled: seat that went, -1 for nobody.
        exiled_wolf: whether that was a Werewolf.
    """

    held: Array
    game: Array
    living: Array
    wolves: Array
    others: Array
    credit: Array
    exile: Array
    exiled: Array
    exiled_wolf: Array


def ballots_of(columns: Columns, pairs: Pairs = ALL) -> Ballots:
    """Return what is known about every vote. Those whom no record says to have left by then are
    alive.

    Args:
        columns: the games.
        pairs: whose suspicion makes the exile: of all living others, or only of those that do not
            know by then whether the target is a Werewolf.
    """
    import numpy as np

    votes, seats = columns.votes, columns.seats
    spread = int(votes["round"].max(initial=0)) + 1
    vote, held = np.unique(votes["game"].astype(np.int64) * spread + votes["round"], return_inverse=True)
    game, round_ = vote // spread, vote % spread
    width = int(columns.games["seats"].max(initial=0))
    left, role = np.full((2, len(columns.ids), width), -1)
    exiled = np.zeros(left.shape, bool)
    role[seats["game"], seats["seat"]] = seats["role"]
    left[seats["game"], seats["seat"]] = seats["left"]
    exiled[seats["game"], seats["seat"]] = seats["exiled"]
    left, role, exiled, now = left[game], role[game], exiled[game], round_[:, None]
    alive = (role >= 0) & ((left == 0) | (left > now) | ((left == now) & exiled))
    out = exiled & (left == now)
    gone = np.where(out.any(axis=1), out.argmax(axis=1), -1) if width else np.zeros(len(game))
    wolf = role == WOLF
    suspicion, judged, informed = _suspicion(columns, game, round_, width)

    own, mine = suspicion[held, votes["voter"]], judged[held, votes["voter"]]
    able = alive[held].copy()
    rows = np.arange(len(held))
    able[rows, votes["voter"]] = False
    thought = np.where(able, own, -np.inf)
    suspects = able & (thought >= thought.max(axis=1, initial=-np.inf)[:, None] - TIE)
    known = (able & mine).any(axis=1) & (votes["target"] >= 0)
    named = suspects[rows, votes["target"]]
    credit = np.where(known, np.where(named, ratio(1, suspects.sum(axis=1)), 0.0), np.nan)

    watch = (alive & ~wolf)[:, :, None] & alive[:, None, :] & ~np.eye(width, dtype=bool)
    if pairs != ALL:
        watch &= ~informed
    mean = ratio(np.where(watch, suspicion, 0).sum(axis=1), watch.sum(axis=1))
    most = np.where(np.isnan(mean), -np.inf, mean)
    most = alive & (most >= most.max(axis=1, initial=-np.inf)[:, None] - TIE) & ~np.isnan(mean)
    share = ratio((most & wolf).sum(axis=1), most.sum(axis=1))
    return Ballots(
        held=held,
        game=game,
        living=alive.sum(axis=1),
        wolves=(alive & wolf).sum(axis=1),
        others=able.sum(axis=1),
        credit=credit,
        exile=np.where((watch & judged).any(axis=(1, 2)), share, np.nan),
        exiled=gone,
        exiled_wolf=(out & wolf).any(axis=1),
    )


def _suspicion(columns: Columns, game: Array, round_: Array, seats: int) -> tuple[Array, Array, Array]:
    """Return D after the debate of each vote's day by observer and target, whether there was a
    judgement by then, and whether the observer knew at one of these whether the target is a
    Werewolf.

    Each judgement tells D before it, so D at a moment is D before the pair's next judgement, its
    final D if none follows, and the prior, which the game's first judgement tells, if there never
    was one.
    """
    import numpy as np

    judgements, pairs, games = columns.judgements, columns.pairs, len(columns.ids)
    span = 2 * int(max(judgements["round"].max(initial=0), round_.max(initial=0))) + 3

    def pair(game: Array, observer: Array, target: Array) -> Array:
        return (game.astype(np.int64) * seats + observer) * seats + target

    own = pair(judgements["game"], judgements["observer"], judgements["target"])
    time = 2 * judgements["round"].astype(np.int64) + judgements["phase"]
    order = np.argsort(own * span + time, kind="stable")
    keys, before = (own * span + time)[order], judgements["before"][order]
    first = np.full(games * seats * seats, np.iinfo(np.int64).max)
    counts = (judgements["d"] >= 0) & ~np.isnan(judgements["s"])
    np.minimum.at(first, own[counts], time[counts])
    prior = np.full(games, np.nan)
    opened, at = np.unique(judgements["game"], return_index=True)
    prior[opened] = judgements["before"][at]
    final = np.repeat(prior, seats * seats)
    final[pair(pairs["game"], pairs["observer"], pairs["target"])] = pairs["d"]

    every = np.arange(seats)
    wanted = pair(game[:, None, None], every[None, :, None], every[None, None, :])
    moment = 2 * round_[:, None, None]
    place = np.searchsorted(keys, wanted * span + moment + 1)
    value = final[wanted]
    if len(keys):
        inside = np.minimum(place, len(keys) - 1)
        follows = (place < len(keys)) & (keys[inside] // span == wanted)
        value = np.where(follows, before[inside], value)
    knew = np.full(games * seats * seats, np.iinfo(np.int64).max)
    told = judgements["informed"].astype(bool)
    np.minimum.at(knew, own[told], time[told])
    return value, first[wanted] <= moment, knew[wanted] <= moment
