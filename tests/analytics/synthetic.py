"""Columns made directly of arrays, for games too many to be played."""

import numpy as np

from tests.analytics.arrays import DTYPES, Columns, filled
from tests.analytics.script import measured
from wolfbus.game.vocabulary import ROLES

SEATS = np.array([ROLES.index(role) for role in ("Villager",) * 4 + ("Werewolf",) * 2 + ("Seer", "Doctor")])
"""Roles in seating order."""
VILLAGERS, WEREWOLVES = 1, 2
"""How a game's winner is kept; 0 for nobody."""


def bare(count: int, blocks=None, /, **tables) -> Columns:
    """Columns of so many games with these tables alone, each game its own block unless its block is given."""
    held = np.arange(count) if blocks is None else np.asarray(blocks)
    every = {name: filled(name, 0) for name in DTYPES} | {"games": filled("games", count, seats=len(SEATS))} | tables
    return Columns(
        ids=tuple(f"g{number:05}" for number in range(count)),
        seeds=("",) * count,
        blocks=held.astype("i4"),
        block_names=tuple(f"b{number:05}" for number in range(int(held.max()) + 1 if count else 0)),
        agents=("scripted",),
        **every,
    )


def decided(won, size) -> Columns:
    """Columns of blocks of so many games each, so many of which the villagers won; the Werewolves won the others."""
    games = len(won) * size
    winner = np.where(np.arange(games) % size < np.repeat(won, size), VILLAGERS, WEREWOLVES)
    table = filled("games", games, finished=1, winner=winner)
    return bare(games, np.arange(games) // size, games=table)


def rising(values) -> Columns:
    """Columns of games in which suspicion of a Werewolf rises from 0 to this, and of a Villager does not."""
    games, wolf, villager = len(values), ROLES.index("Werewolf"), ROLES.index("Villager")
    table = filled(
        *("rounds", 3 * games),
        game=np.repeat(np.arange(games), 3),
        round=np.tile([1, 2, 2], games),
        target_role=np.tile([wolf, wolf, villager], games),
        d=np.stack([np.zeros(games), values, np.zeros(games)], axis=1).ravel(),
    )
    return bare(games, rounds=table)


def synthetic(scores, deceptive, games, *, before=None, flags=None, blocks=None, seed=0) -> Columns:
    """Columns of judgements with these suspicions and self-labels, each of a statement of its own.

    Args:
        scores: s of each judgement, NaN for none.
        deceptive: self-label of its statement, -1 for none that counts.
        games: its game, from 0.
        before: D before it; s unless given, 0.5 for none.
        flags: the observer's flag, -1 for a judgement that does not count; s >= 0.5 unless given.
        blocks: block of each game; its own unless given.
        seed: of who judges whom.
    """
    s, d, game = np.asarray(scores, "f8"), np.asarray(deceptive, "i1"), np.asarray(games, "i4")
    order = np.argsort(game, kind="stable")
    rng = np.random.default_rng(seed)
    observer = rng.integers(0, 8, len(s))
    target = (observer + rng.integers(1, 8, len(s))) % 8
    # who judges whom belongs to the judgement, in whatever order it is given
    judgements = filled(
        *("judgements", len(s)),
        game=game,
        observer=observer,
        observer_role=SEATS[observer],
        target=target,
        target_role=SEATS[target],
        d=np.nan_to_num(s) >= 0.5 if flags is None else flags,
        s=s,
        before=np.where(np.isnan(s), 0.5, s) if before is None else before,
    )
    judgements = {name: column[order] for name, column in judgements.items()}
    judgements["statement"] = np.arange(len(s), dtype="i4")
    count = int(game.max()) + 1 if len(game) else 0
    statements = filled("statements", len(s), game=judgements["game"], number=np.arange(1, len(s) + 1), d=d[order])
    return bare(count, blocks, statements=statements, judgements=judgements)


def linked(games, each, *, slope, intercept, seed):
    """Suspicions whose link to deception is known, as (scores, deceptive, games).

    s is spread over [0, 1] with two decimals; P(deceptive | s) = 1 / (1 + exp(-(slope logit s + intercept))), with s
    held within [0.005, 0.995] first.
    """
    rng = np.random.default_rng(seed)
    s = np.round(rng.beta(1.2, 1.2, games * each), 2)
    held = np.clip(s, 0.005, 0.995)
    chance = 1 / (1 + np.exp(-(slope * np.log(held / (1 - held)) + intercept)))
    return s, (rng.random(len(s)) < chance).astype("i1"), np.repeat(np.arange(games), each)


def confusion(tp=0, tn=0, fp=0, fn=0) -> dict:
    """What Table 3 makes of so many judgements: deceptive and flagged, truthful and not, and the other two."""
    counts = (tp, fn, fp, tn)
    labels, flags = np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)
    columns = synthetic(np.zeros(len(labels)), labels, np.zeros(len(labels)), flags=flags)
    return measured("table3", columns)["overall"]
