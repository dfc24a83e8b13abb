"""What each agent did and how it was seen; and its skill of winning, found again in simulated games."""

import json
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from analytics.gather import GameRows
from tests.analytics.script import measured, random_game, tables_of
from tests.analytics.synthetic import VILLAGERS, WEREWOLVES
from tests.simulator import draw_agents, simulate
from tests.simulator.coverage import coverage, many, table
from wolfbus.game.vocabulary import ROLES

GAMES = [random_game(seed).rows() for seed in range(12)]


@pytest.mark.parametrize("brain", ["one", "two"])
def test_an_agents_figures_are_those_of_its_own_rows_and_seats(brain):
    found = measured("agents", tables_of(GAMES))[brain]

    def own(rows: str, seat: str, section: str) -> dict:
        """A section over only those rows in which one of its seats has a part."""
        return measured(section, tables_of(
            replace(g, **{rows: tuple(r for r in getattr(g, rows) if _agent(g, r, seat) == brain)}) for g in GAMES
        ))  # fmt: skip

    acts = own("judgements", "observer", "table3")["overall"]
    area = own("judgements", "observer", "table4")["suspicion"]["overall"]
    caught = own("judgements", "target", "table3")["overall"]
    production = measured("production", tables_of(GAMES))["by_brain"][brain]
    expected = {
        **{name: (acts[name], acts["n"]) for name in ("accuracy", "balanced_accuracy")},
        "auc": (area["auc"], area["n"]),
        "caught": (caught["recall"], caught["tp"] + caught["fn"]),
        "deception_rate": (production["rate"], production["n"]),
        "vote_hit": tuple(own("votes", "voter", "votes")["hits"][name] for name in ("value", "n")),
    }
    for name, wolf in (("suspicion_as_wolf", True), ("suspicion_as_villager", False)):
        d = [d for g in GAMES for (_, seat), d in g.suspicion.items()
             if g.seats[seat].agent == brain and (g.seats[seat].role == "Werewolf") == wolf]  # fmt: skip
        expected[name] = (np.mean(d), len(d))
    for name, (value, n) in expected.items():
        assert (found[name]["value"], found[name]["n"]) == (pytest.approx(value, abs=1e-9), n), name
    seats = [(game, seat) for game in GAMES for seat in game.seats.values() if seat.agent == brain]
    assert found["seats"] == len(seats) == sum(found["roles"].values())
    for side, wolf in (("villagers", False), ("werewolves", True)):
        won = [game.winner == side for game, seat in seats if game.finished and (seat.role == "Werewolf") == wolf]
        row = found["wins"][side]
        assert (row["value"], row["n"]) == (pytest.approx(np.mean(won)), len(won))
        assert row["low"] <= row["value"] <= row["high"]


def _agent(game: GameRows, row, seat: str) -> str:
    return game.seats[getattr(row, seat)].agent


WEREWOLF, VILLAGE = np.array([1.2, 0.0, 0.0, -1.2]), np.array([-0.8, 0.0, 0.0, 0.8])


def parts_of(columns):
    """Of each game the part that each agent has in its Werewolves, and minus that in the other seats."""
    shares = np.zeros((len(columns.ids), 2, len(columns.agents)))
    side = (columns.seats["role"] != ROLES.index("Werewolf")).astype(int)
    np.add.at(shares, (columns.seats["game"], side, columns.seats["agent"]), 1)
    shares /= shares.sum(axis=2, keepdims=True)
    return np.concatenate([shares[:, 0], -shares[:, 1]], axis=1)


def played(games: int, seed: int, *, mirrored: bool = False):
    """Games that are won by skill: every second deal with sides swapped where they are mirrored."""
    columns = simulate(draw_agents(4, 1), games, seed, statements=1, rounds=1)
    rng = np.random.default_rng(seed)
    seats = dict(columns.seats)
    if mirrored:
        pairs = np.array([rng.permutation(4)[:2] for _ in range(games // 2)])
        # nobody is without a seat
        pairs[:2] = [[0, 1], [2, 3]]
        sides = np.stack([pairs, pairs[:, ::-1]], axis=1).reshape(-1, 2)
        wolf = seats["role"] == ROLES.index("Werewolf")
        seats["agent"] = np.where(wolf, sides[seats["game"], 0], sides[seats["game"], 1]).astype("i4")
        names = tuple(f"match {at:03d}" for at in range(games // 2))
        columns = replace(columns, blocks=(np.arange(games) // 2).astype("i4"), block_names=names)
    columns = replace(columns, seats=seats)
    chance = 1 / (1 + np.exp(-(0.4 + parts_of(columns) @ np.concatenate([WEREWOLF, VILLAGE]))))
    won = np.where(rng.random(games) < chance, WEREWOLVES, VILLAGERS)
    return replace(columns, games={**columns.games, "winner": won.astype("i1")})


def test_skills_are_found_again_and_tell_who_wins_games_that_were_not_fitted():
    found = measured("skill", played(400, 1, mirrored=True))
    rows = list(found["agents"].values())
    for side, true in (("werewolf", WEREWOLF), ("village", VILLAGE)):
        own = [row[side]["skill"] for row in rows]
        assert [row["value"] for row in own] == pytest.approx(true, abs=0.6)
        assert own[0]["value"] * true[0] > 0
        assert sum(row["low"] <= t <= row["high"] for row, t in zip(own, true, strict=True)) >= 3
    assert found["side"]["low"] < 1 / (1 + np.exp(-0.4)) < found["side"]["high"]
    assert found["held_out"]["brier"] < found["held_out"]["constant"]
    assert found["held_out"]["difference"]["low"] > 0
    assert (found["games"], found["without_winner"], found["blocks"]) == (400, 0, 200)


def test_the_fit_is_that_of_a_ridge_regression():
    columns = played(80, 2)
    rows = measured("skill", columns)["agents"].values()
    # scikit-learn does not shrink its intercept, so the side is a column; without the constraint, skills are those
    # of the ridge but for what all agents have in common, which the side takes up
    design = np.concatenate([np.ones((80, 1)), parts_of(columns)], axis=1)
    won = columns.games["winner"] == WEREWOLVES
    plain = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=1000).fit(design, won).coef_[0]
    for side, theirs in (("werewolf", plain[1:5]), ("village", plain[5:9])):
        own = np.array([row[side]["skill"]["value"] for row in rows])
        assert own - own.mean() == pytest.approx(theirs - theirs.mean(), abs=0.03)


def test_what_nobody_won_is_no_game_and_a_side_never_played_has_no_skill():
    told = measured("skill", tables_of(GAMES))
    json.dumps(told, allow_nan=False)
    winners = [game.winner for game in GAMES if game.finished]
    assert (told["games"], told["without_winner"]) == (sum(map(bool, winners)), winners.count(None))
    never = played(20, 4)
    wolf = never.seats["role"] == ROLES.index("Werewolf")
    agent = np.where((never.seats["agent"] == 0) & wolf, 1, never.seats["agent"]).astype("i4")
    row = measured("skill", replace(never, seats={**never.seats, "agent": agent}))["agents"]["agent-00"]
    assert row["werewolf"]["wins"]["reason"] == "it has no seat as Werewolf in a game that was won"
    assert row["village"]["wins"]["value"] is not None
    alone = np.where(wolf, 0, np.maximum(1, never.seats["agent"])).astype("i4")
    row = measured("skill", replace(never, seats={**never.seats, "agent": alone}))["agents"]["agent-00"]["werewolf"]
    assert row["skill"]["reason"] == "no other agent to compare it with"
    nothing = measured("skill", tables_of([]))
    assert (nothing["games"], nothing["side"]["reason"], nothing["agents"]) == (0, "nobody won a game", {})


@pytest.mark.parametrize(("games", "studies", "least"), [(40, 10, 0.9), *(many(n, 200, 0.92) for n in (24, 60, 200))])
def test_skills_are_covered(games, studies, least):
    sides = {"werewolf": WEREWOLF, "village": VILLAGE}
    true = {f"{side} {at}": value for side, own in sides.items() for at, value in enumerate(own)}

    def ends(seed: int):
        rows = measured("skill", played(games, seed, mirrored=True))["agents"].values()
        skills = {f"{side} {at}": row[side]["skill"] for at, row in enumerate(rows) for side in sides}
        return {name: (skill["low"], skill["high"]) for name, skill in skills.items()}

    found = coverage((ends(seed) for seed in range(studies)), true)
    print(table(f"coverage of skill, {games} games", {name: {"": share} for name, share in found.items()}))
    assert np.mean(list(found.values())) >= least
