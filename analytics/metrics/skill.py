"""Skill of winning: how often an agent's side wins, with whoever plays beside and against it taken into account.

::

    logit P(Werewolves win) = side + mean of werewolf(agent) over the seats on their side
                                   - mean of village(agent) over the other seats

Every skill is N(0, 1) beforehand, in logits, and adds up to 0 over the agents, weighted by seats; so `side` is what the
rules give the Werewolves between average agents. Games that nobody won count for neither side. The model is scored on
games that it was not fitted to. Between two agents alone that play whole sides, only the sum of an agent's two skills
can be compared; the prior divides it evenly.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl
from scipy.special import expit

from analytics import Result
from analytics.metrics.bootstrap import (
    FEWEST_BLOCKS,
    NONE,
    Figures,
    Interval,
    PenalisedFit,
    draws_of,
    linear_figures,
    sum_to_zero,
)
from analytics.metrics.formulas import Array, ratio
from analytics.metrics.games import WITH_WOLVES
from analytics.metrics.recalibration import FOLDS, folds_of
from analytics.metrics.study import Study, figure_row
from analytics.metrics.sums import sums_of
from analytics.results import NOBODY, ResultRow, Results

PRIOR_SD: Final = 1.0
"""Standard deviation of every skill, and of the side's effect, beforehand, in logits."""
SIDES: Final = ("werewolf", "village")

_STEPS: Final = 30


@dataclass(frozen=True, slots=True, eq=False)
class WonGames:
    """Games that somebody won.

    Attributes:
        won: whether the Werewolves did.
        parts: parameters' part in each game's logit: side, Werewolf by agent, village by agent.
        block: of each game.
        blocks: number of blocks of all games.
        seats: seats of each agent in these games, by side and agent.
    """

    won: Array
    parts: Array
    block: Array
    blocks: int
    seats: Array

    def subset(self, chosen: Array) -> WonGames:
        """Return the chosen games only."""
        return WonGames(self.won[chosen], self.parts[chosen], self.block[chosen], self.blocks, self.seats)


def won_games(study: Study) -> WonGames:
    """Return the games that somebody won."""
    games = study.tables.games
    rows = np.flatnonzero((games["finished"] & games["winner"].is_not_null()).to_numpy())
    axes = {"agent": "agent"}
    sums = sums_of(study.tables.seats, study.games, axes, werewolf=WITH_WOLVES, village=~WITH_WOLVES).by_game
    counts = np.stack([sums.werewolf, sums.village])
    shares = counts / np.maximum(1, counts.sum(axis=2, keepdims=True))
    parts = np.concatenate([np.ones((len(rows), 1)), shares[0][rows], -shares[1][rows]], axis=1)
    won = (games["winner"].cast(pl.String) == "werewolves").fill_null(value=False).to_numpy()[rows]
    return WonGames(won, parts, study.block[rows], study.blocks, counts[:, rows].sum(axis=1))


def fit_skill(games: WonGames) -> PenalisedFit:
    """Return the most probable skills, by Newton's method."""
    size = games.parts.shape[1]
    agents = (size - 1) // 2
    precision = np.eye(size) / PRIOR_SD**2
    for side, seats in enumerate(games.seats):
        sum_to_zero(precision, 1 + side * agents, seats)
    parameters = np.zeros(size)
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-games.parts @ parameters))
        information = (games.parts.T * (chance * (1 - chance))) @ games.parts + precision
        step = np.linalg.solve(information, games.parts.T @ (games.won - chance) - precision @ parameters)
        parameters = parameters + step * min(1.0, 2.0 / max(float(np.abs(step).max(initial=0.0)), 1e-12))
        if float(np.abs(step).max(initial=0.0)) < 1e-8:
            break
    gradients = np.zeros((games.blocks, size))
    np.add.at(gradients, games.block, games.parts * (games.won - chance)[:, None])
    return PenalisedFit(parameters, np.linalg.inv(information), gradients)


_NO_GAME: Final = "nobody won a game"


def skill_rows(study: Study) -> Iterator[ResultRow]:
    """Yield each agent's skill of winning as Werewolf and with the village (beyond the paper).

    ``skill`` is in logits, 0 the average of the agents by seats; ``skill_wins`` the share of games that its side would
    win were all seats of the side its own, against average agents; n counts its seats in games that somebody won.
    ``side_wins``: the share of games that average Werewolves win of average villagers. ``wins_brier`` is the Brier
    score of the model on blocks that it was not fitted to, ``wins_constant`` of the Werewolves' share of wins in the
    others, ``wins_brier_difference`` the second minus the first: above 0, who plays tells who wins.
    """
    games, agents = won_games(study), study.agents
    if not len(games.won):
        for name in agents:
            for which in SIDES:
                for metric in ("skill", "skill_wins"):
                    yield figure_row(metric, NOBODY, None, None, 0, _NO_GAME, side=which, agent=name)
        yield figure_row("side_wins", NOBODY, None, None, 0, _NO_GAME)
        yield from _undefined(0, _NO_GAME)
        return
    model = fit_skill(games)
    count, size = len(agents), len(model.parameters)
    skill_weights = np.eye(size)[1:]
    with_side = skill_weights.copy()
    with_side[:, 0] = np.repeat([1.0, -1.0], count)
    alone = linear_figures(model, skill_weights, PRIOR_SD)
    wins = linear_figures(model, with_side, PRIOR_SD)
    for index, name in enumerate(agents):
        for place, which in enumerate(SIDES):
            n, at = int(games.seats[place, index]), place * count + index
            others = int((games.seats[place] > 0).sum()) - (n > 0)
            what = "as Werewolf" if which == "werewolf" else "with the village"
            reason = "no other agent to compare it with" if n else f"it has no seat {what} in a game that was won"
            is_comparable = bool(n and others)
            group = {"side": which, "agent": name}
            value, interval = (alone.values[at], alone.intervals[at]) if is_comparable else (None, None)
            yield figure_row("skill", NOBODY, value, interval, n, reason, **group)
            share, ends = _as_share(wins, at) if n else (None, None)
            yield figure_row("skill_wins", NOBODY, share, ends, n, reason, **group)
    side = linear_figures(model, np.eye(size)[:1], PRIOR_SD)
    yield figure_row("side_wins", NOBODY, *_as_share(side, 0), len(games.won), "")
    yield from _held_out(games)


def _as_share(figures: Figures, index: int) -> tuple[float, Interval]:
    """Return a logit as a share."""
    low, high, why = figures.intervals[index]
    low, high = (None if end is None else float(expit(end)) for end in (low, high))
    return float(expit(figures.values[index])), Interval(low, high, why)


_HELD_OUT: Final = {"brier": "wins_brier", "constant": "wins_constant", "difference": "wins_brier_difference"}


def _undefined(n: int, reason: str) -> Iterator[ResultRow]:
    for metric in _HELD_OUT.values():
        yield figure_row(metric, NOBODY, None, None, n, reason)


def _held_out(games: WonGames) -> Iterator[ResultRow]:
    n, blocks = len(games.won), len(np.unique(games.block))
    if blocks < max(FOLDS, FEWEST_BLOCKS):
        yield from _undefined(n, f"needs {FOLDS} blocks of games that somebody won, and there are {blocks}")
        return
    folds = folds_of(games.block)
    missed = np.empty((2, n))
    for fold in range(FOLDS):
        inside = folds == fold
        others = games.subset(~inside)
        chance = expit(games.parts[inside] @ fit_skill(others).parameters)
        # half a game for each side, so that one that never won is not held impossible
        constant = (others.won.sum() + 0.5) / (len(others.won) + 1)
        missed[0, inside] = (games.won[inside] - chance) ** 2
        missed[1, inside] = (games.won[inside] - constant) ** 2
    weights = (missed[1] - missed[0], np.ones(n))
    sums = np.stack([np.bincount(games.block, weight, games.blocks) for weight in weights], axis=1)
    draws = draws_of(games.blocks)
    drawn = draws.sums(sums)
    interval = draws.interval(ratio(drawn[:, 0], drawn[:, 1]), blocks)
    brier, constant = missed.mean(axis=1).tolist()
    yield figure_row("wins_brier", NOBODY, brier, NONE, n, "")
    yield figure_row("wins_constant", NOBODY, constant, NONE, n, "")
    yield figure_row("wins_brier_difference", NOBODY, constant - brier, interval, n, "")


def skill(study: Study, results: Results) -> Result:
    """Return each agent's skill of winning; see `skill_rows`. ``games`` counts games that somebody won,
    ``without_winner`` finished ones that nobody did.
    """
    games = study.tables.games
    won = int((games["finished"] & games["winner"].is_not_null()).sum())
    difference = results.row("wins_brier_difference")
    return {
        "agents": {
            name: {
                side: {
                    "skill": results.row("skill", side=side, agent=name).estimate(),
                    "wins": results.row("skill_wins", side=side, agent=name).estimate(),
                }
                for side in SIDES
            }
            for name in study.agents
        },
        "side": results.row("side_wins").estimate(),
        "held_out": {
            **{name: results.value(metric) for name, metric in _HELD_OUT.items()},
            "difference": None if difference.value is None else difference.estimate(),
            "n": difference.n,
            "reason": difference.reason if difference.value is None else None,
        },
        "games": won,
        "without_winner": int(games["finished"].sum()) - won,
        "blocks": study.blocks,
    }
