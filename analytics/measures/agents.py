"""What every agent did and how it was seen (paper, sections 5.5 and 5.9).

`skill`: how often its side wins, with whoever plays beside and against it taken into account:

    logit P(Werewolves win) = side + mean of werewolf(agent) over their seats
                                   - mean of village(agent) over the other seats

Every skill is N(0, 1) beforehand, in logits, and adds up to 0 over the agents, weighted by seats; so `side` is what the
rules give the Werewolves between average agents. Games that nobody won count for neither side. The model is scored on
games that it was not fitted to. Between two agents alone that play whole sides, only the sum of an agent's two skills
can be known; the prior divides it evenly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.measures.bootstrap import (
    FEWEST_BLOCKS,
    Figures,
    PenalisedFit,
    by_block,
    draws_of,
    estimate,
    linear_figures,
    sum_to_zero,
)
from analytics.measures.formulas import ratio
from analytics.measures.frames import OVER, UNINFORMED, cube, quotient
from analytics.measures.headlines import MEASURES
from analytics.measures.recalibration import FOLDS, folds_of
from analytics.measures.study import Sheet, Study
from analytics.rows import WINNERS
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from analytics.measures.columns import Array, Columns

_ACTS: Final = (
    "deception_rate",
    "accuracy",
    "balanced_accuracy",
    "auc",
    "vote_hit",
    "villager_wins",
    "werewolf_wins",
)
_REASONS: Final = {
    "villager_wins": "it has no seat with the villagers in a finished game",
    "werewolf_wins": "it is no Werewolf in a finished game",
    "vote_hit": "it voted for nobody as other than a Werewolf",
}


def agents(study: Study) -> Result:
    """Return by agent what it did and how it was seen, with 95 % intervals of the block bootstrap
    (paper 5.5 and 5.9; metrics: production, Table 3, Table 4, does suspicion drive votes,
    variability).

    ``wins``: of its seats with the villagers in finished games the share that won, and of its
    Werewolves. ``deception_rate``: share of its statements that it calls deceptive. ``accuracy``,
    ``balanced_accuracy`` and ``auc`` are those of its judgements. ``caught``: share flagged among
    the judgements of statements that it calls deceptive. ``suspicion_as_wolf`` and
    ``suspicion_as_villager``: mean final D towards its seats. ``vote_hit``: share of its votes as
    other than a Werewolf that name one. All but wins, statements and ``deception_rate`` are over
    uninformed pairs (`analytics.measures.frames`). n is what each is over; ``reason`` tells why one is
    undefined.
    """
    return {name: _agent(study, name) for name in study.columns.agents}


def _agent(study: Study, agent: str) -> Result:
    columns, estimates = study.columns, study.estimates.select(**OVER[UNINFORMED])
    does = Sheet(study, columns.blocks, study.blocks, agent).estimates([MEASURES[name] for name in _ACTS])
    for name, figure in does.items():
        del figure["undefined_draws"]
        if figure["value"] is None:
            figure["reason"] = _REASONS.get(name, figure["reason"])
    return {
        **seats_of(study, agent),
        "wins": {"villagers": does["villager_wins"], "werewolves": does["werewolf_wins"]},
        "statements": round(float(estimates.total.cube("said", agent=agent))),
        "deception_rate": does["deception_rate"],
        "judgements": round(float(estimates.total.cube("judged", agent=agent))),
        **{name: does[name] for name in ("accuracy", "balanced_accuracy", "auc")},
        "caught": estimates.figure(
            cube("heard", target=agent, label=1, flag=1) / cube("heard", target=agent, label=1),
            "nobody judged a statement that it calls deceptive",
        ),
        **{
            f"suspicion_as_{side}": estimates.figure(
                quotient("suspected", target=agent, wolf=wolf), f"nobody judged it as {words}"
            )
            for side, wolf, words in (("wolf", 1, "a Werewolf"), ("villager", 0, "other than a Werewolf"))
        },
        "vote_hit": does["vote_hit"],
    }


def seats_of(study: Study, agent: str) -> Result:
    """Return in how many games and seats an agent played, and as what."""
    total = study.estimates.total
    roles = [round(count) for count in total.cube("seat", "role", agent=agent).tolist()]
    return {
        "games": round(float(total.cube("plays", agent=agent))),
        "seats": sum(roles),
        "roles": dict(zip(ROLES, roles, strict=True)),
    }


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


def won_games(columns: Columns) -> WonGames:
    """Return the games that somebody won."""
    import numpy as np

    seats, winner, agents = columns.seats, columns.games["winner"], len(columns.agents)
    wolf = seats["role"] == ROLES.index("Werewolf")
    rows = np.flatnonzero(columns.games["finished"] & (winner > 0))
    counts = np.zeros((2, len(columns.ids), agents))
    for side, chosen in enumerate((wolf, ~wolf)):
        np.add.at(counts[side], (seats["game"][chosen], seats["agent"][chosen]), 1)
    shares = counts / np.maximum(1, counts.sum(axis=2, keepdims=True))
    parts = np.concatenate([np.ones((len(rows), 1)), shares[0][rows], -shares[1][rows]], axis=1)
    won = winner[rows] == WINNERS.index("werewolves")
    return WonGames(won, parts, columns.blocks[rows], len(columns.block_names), counts[:, rows].sum(axis=1))


def fit_skill(games: WonGames) -> PenalisedFit:
    """Return the most probable skills, by Newton's method."""
    import numpy as np

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


def skill(study: Study) -> Result:
    """Return each agent's skill of winning as Werewolf and with the village (beyond the paper).

    ``agents`` has for each ``werewolf`` and ``village``: ``skill`` in logits, 0 the average of the
    agents by seats, and ``wins``, the share of games that its side would win were all seats of the
    side its own, against average agents; n counts its seats in games that somebody won. ``side``:
    the share of games that average Werewolves win of average villagers. ``held_out``: Brier score
    of the model on blocks that it was not fitted to, and of a ``constant``, the Werewolves' share of
    wins in the others; ``difference`` is the second minus the first: above 0, who plays tells who
    wins. ``games`` counts games that somebody won, ``without_winner`` finished ones that nobody did.
    """
    import numpy as np

    columns = study.columns
    games, agents = won_games(columns), columns.agents
    finished = int(columns.games["finished"].sum())
    shared: Result = {"games": len(games.won), "without_winner": finished - len(games.won), "blocks": games.blocks}
    if not len(games.won):
        reason = "nobody won a game"
        missing = {side: dict.fromkeys(("skill", "wins"), estimate(None, 0, None, reason)) for side in SIDES}
        return {
            "agents": dict.fromkeys(agents, missing),
            "side": estimate(None, 0, None, reason),
            "held_out": {**dict.fromkeys(("brier", "constant", "difference")), "n": 0, "reason": reason},
            **shared,
        }
    model = fit_skill(games)
    count, size = len(agents), len(model.parameters)
    skill_weights = np.eye(size)[1:]
    with_side = skill_weights.copy()
    with_side[:, 0] = np.repeat([1.0, -1.0], count)
    alone, wins = (linear_figures(model, weights, PRIOR_SD) for weights in (skill_weights, with_side))
    side = linear_figures(model, np.eye(size)[:1], PRIOR_SD)
    rows: Result = {}
    for index, name in enumerate(agents):
        rows[name] = {}
        for place, which in enumerate(SIDES):
            n, row = int(games.seats[place, index]), place * count + index
            others = int((games.seats[place] > 0).sum()) - (n > 0)
            reason = (
                f"it has no seat as {'Werewolf' if which == 'werewolf' else 'anything else'} in a game that was won"
            )
            rows[name][which] = {
                "skill": alone.estimate(row, n)
                if n and others
                else estimate(None, n, None, "no other agent to compare it with" if n else reason),
                "wins": _as_share(wins, row, n) if n else estimate(None, n, None, reason),
            }
    return {"agents": rows, "side": _as_share(side, 0, len(games.won)), "held_out": _held_out(games), **shared}


def _as_share(figures: Figures, index: int, n: int) -> Result:
    """Return a logit as a share."""
    logit = figures.estimate(index, n)
    shares = {end: None if logit[end] is None else 1 / (1 + math.exp(-logit[end])) for end in ("value", "low", "high")}
    return {**logit, **shares}


def _held_out(games: WonGames) -> Result:
    import numpy as np

    n, blocks = len(games.won), len(np.unique(games.block))
    empty = {**dict.fromkeys(("brier", "constant", "difference")), "n": n}
    if blocks < max(FOLDS, FEWEST_BLOCKS):
        return {**empty, "reason": f"needs {FOLDS} blocks of games that somebody won, and there are {blocks}"}
    folds = folds_of(games.block)
    missed = np.empty((2, n))
    for fold in range(FOLDS):
        inside = folds == fold
        others = games.subset(~inside)
        chance = 1 / (1 + np.exp(-games.parts[inside] @ fit_skill(others).parameters))
        # half a game for each side, so that one that never won is not held impossible
        constant = (others.won.sum() + 0.5) / (len(others.won) + 1)
        missed[0, inside] = (games.won[inside] - chance) ** 2
        missed[1, inside] = (games.won[inside] - constant) ** 2
    sums = by_block(games.block, games.blocks, missed[1] - missed[0], np.ones(n))
    draws = draws_of(games.blocks)
    drawn = draws.sums(sums)
    interval = draws.interval(ratio(drawn[:, 0], drawn[:, 1]), blocks)
    brier, constant = missed.mean(axis=1).tolist()
    difference = estimate(constant - brier, n, interval, "")
    return {"brier": brier, "constant": constant, "difference": difference, "n": n, "reason": None}
