"""Skill of winning: found again in simulated games, held against what does not know who plays."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from analytics.columns import WINNERS, columns_of
from analytics.measures.agents import PRIOR_SD, fit_skill, skill, won_games
from analytics.measures.study import Study
from tests.analytics.script import random_game
from tests.simulator import draw_agents, simulate
from tests.simulator.coverage import coverage, table
from wolfbus.vocabulary import ROLES

WEREWOLF, VILLAGE = np.array([1.2, 0.0, 0.0, -1.2]), np.array([-0.8, 0.0, 0.0, 0.8])


def played(games: int, seed: int, *, mirrored: bool = False):
    """Games that are won by skill: every second deal with sides swapped where they are mirrored."""
    columns = simulate(draw_agents(4, 1), games, seed, statements=1, rounds=1)
    rng = np.random.default_rng(seed)
    seats = dict(columns.seats)
    if mirrored:
        pairs = np.array([rng.permutation(4)[:2] for _ in range(games // 2)])
        sides = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2)
        wolf = seats["role"] == ROLES.index("Werewolf")
        seats["agent"] = np.where(wolf, sides[seats["game"], 0], sides[seats["game"], 1]).astype("i4")
        names = tuple(f"match {at:03d}" for at in range(games // 2))
        columns = replace(columns, blocks=(np.arange(games) // 2).astype("i4"), block_names=names)
    columns = replace(columns, seats=seats)
    parts = won_games(columns).parts
    chance = 1 / (1 + np.exp(-(0.4 + parts[:, 1:] @ np.concatenate([WEREWOLF, VILLAGE]))))
    won = np.where(rng.random(games) < chance, WINNERS.index("werewolves"), WINNERS.index("villagers"))
    return replace(columns, games={**columns.games, "winner": won.astype("i1")})


def test_skills_are_found_again_and_tell_who_wins_games_that_were_not_fitted():
    found = skill(Study(played(400, 1, mirrored=True)))
    rows = list(found["agents"].values())
    for side, true in (("werewolf", WEREWOLF), ("village", VILLAGE)):
        values = np.array([row[side]["skill"]["value"] for row in rows])
        assert values == pytest.approx(true, abs=0.6)
        assert values[0] * true[0] > 0
        inside = [
            row[side]["skill"]["low"] <= t <= row[side]["skill"]["high"] for row, t in zip(rows, true, strict=True)
        ]
        assert sum(inside) >= 3
    assert found["side"]["low"] < 1 / (1 + np.exp(-0.4)) < found["side"]["high"]
    held = found["held_out"]
    assert held["brier"] < held["constant"]
    assert held["difference"]["low"] > 0
    assert (found["games"], found["without_winner"], found["blocks"]) == (400, 0, 200)


def test_the_fit_is_that_of_a_ridge_regression():
    games = won_games(played(80, 2))
    found = fit_skill(games)
    # scikit-learn does not shrink its intercept, so the side is a column; without the constraint, skills are those
    # of the ridge but for what all agents have in common, which the side takes up
    plain = LogisticRegression(C=PRIOR_SD**2, fit_intercept=False, tol=1e-10, max_iter=1000).fit(games.parts, games.won)
    for at in (1, 5):
        own, theirs = found.at[at : at + 4], plain.coef_[0][at : at + 4]
        assert own - own.mean() == pytest.approx(theirs - theirs.mean(), abs=0.03)
    assert found.at[1:5] @ games.seats[0] == pytest.approx(0, abs=1e-3)


def test_what_nobody_won_is_no_game_and_a_side_never_played_has_no_skill():
    columns = columns_of(random_game(seed).rows() for seed in range(12))
    told = skill(Study(columns))
    json.dumps(told, allow_nan=False)
    winner = columns.games["winner"][columns.games["finished"]]
    assert (told["games"], told["without_winner"]) == (int((winner > 0).sum()), int((winner == 0).sum()))
    never = played(20, 4)
    agent = np.where(
        (never.seats["agent"] == 0) & (never.seats["role"] == ROLES.index("Werewolf")), 1, never.seats["agent"]
    )
    row = skill(Study(replace(never, seats={**never.seats, "agent": agent.astype("i4")})))["agents"]["agent-00"]
    assert row["werewolf"]["wins"]["reason"] == "it has no seat as Werewolf in a game that was won"
    assert row["village"]["wins"]["value"] is not None
    nothing = skill(Study(columns_of([])))
    assert (nothing["games"], nothing["side"]["reason"], nothing["agents"]) == (0, "nobody won a game", {})


def covered(games: int, studies: int) -> dict[str, float]:
    """Return the coverage of skills in mirrored games."""
    true = {
        f"{side} {at}": value
        for side, own in (("werewolf", WEREWOLF), ("village", VILLAGE))
        for at, value in enumerate(own)
    }

    def ends(seed: int):
        rows = skill(Study(played(games, seed, mirrored=True)))["agents"].values()
        return {
            f"{side} {at}": (row[side]["skill"]["low"], row[side]["skill"]["high"])
            for at, row in enumerate(rows)
            for side in ("werewolf", "village")
        }

    return coverage((ends(seed) for seed in range(studies)), true)


def test_skills_are_covered():
    found = covered(40, 20)
    print(table("coverage of skill, 40 games", {name: {"": share} for name, share in found.items()}))
    assert np.mean(list(found.values())) >= 0.9


@pytest.mark.soak
@pytest.mark.timeout(1_800)
def test_skills_of_two_hundred_studies_are_covered():
    found = {games: covered(games, 200) for games in (24, 60, 200)}
    print(table("coverage of skill", {name: {str(n): found[n][name] for n in found} for name in found[24]}))
    assert min(np.mean(list(row.values())) for row in found.values()) >= 0.92
