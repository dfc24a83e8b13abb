"""How scripted players play."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.players.table import CONFIGS, Played, play

GAMES = 60


@pytest.fixture(scope="module")
def games() -> list[Played]:
    return [play(f"play {seed}", CONFIGS["paper"]) for seed in range(GAMES)]


def test_both_sides_win_their_share(games: list[Played]):
    winners = Counter(game.ended.winner for game in games)
    assert winners["villagers"] >= GAMES // 8
    assert winners["werewolves"] >= GAMES // 8


def test_werewolves_seldom_vote_for_a_partner(games: list[Played]):
    votes = Counter[bool]()
    for game in games:
        for event in game.events:
            if event.type == "tally":
                for voter, target in event.votes.items():
                    if game.roles[voter] == "Werewolf" and target is not None:
                        votes[game.roles[target] == "Werewolf"] += 1
    assert 0 < votes[True] < votes[False] / 5


def test_villagers_vote_for_werewolves_more_often_than_chance(games: list[Played]):
    hits: list[float] = []
    expected: list[float] = []
    for game in games:
        for event in game.events:
            if event.type != "tally":
                continue
            wolves = sum(game.roles[name] == "Werewolf" for name in event.votes)
            for voter, target in event.votes.items():
                if game.roles[voter] != "Werewolf" and target is not None:
                    hits.append(game.roles[target] == "Werewolf")
                    expected.append(wolves / (len(event.votes) - 1))
    assert sum(hits) > 1.1 * sum(expected)


def test_suspicion_of_werewolves_ends_above_that_of_villagers(games: list[Played]):
    totals = {"Werewolf": [0.0, 0], "Villager": [0.0, 0]}
    for game in games:
        for observer, view in game.views.items():
            if game.roles[observer] == "Werewolf":
                continue
            for (_, target), value in view.suspicion.pairs().items():
                if game.roles[target] in totals:
                    totals[game.roles[target]][0] += value
                    totals[game.roles[target]][1] += 1
    mean = {role: total / count for role, (total, count) in totals.items()}
    assert mean["Werewolf"] > mean["Villager"] + 0.02
