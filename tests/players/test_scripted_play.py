"""How scripted players play."""

from __future__ import annotations

from collections import Counter

import pytest

from players.scripted.cues import read
from tests.players.table import CONFIGS, Played, play

GAMES = 60


@pytest.fixture(scope="module")
def games() -> list[Played]:
    return [play(f"play {seed}", CONFIGS["paper"]) for seed in range(GAMES)]


def test_both_sides_win_their_share(games: list[Played]):
    winners = Counter(game.ended.winner for game in games)
    assert winners["villagers"] >= GAMES // 8
    assert winners["werewolves"] >= GAMES // 8


def test_games_are_of_different_lengths(games: list[Played]):
    assert len({game.ended.rounds for game in games}) >= 3


def test_werewolves_agree_on_their_second_whisper(games: list[Played]):
    agreed = 0
    for game in games:
        proposals: dict[int, set[str | None]] = {}
        turns = {event.batch: event.turn for event in game.events if event.type == "asked"}
        for event in game.events:
            if event.type == "answered" and event.kind == "whisper" and event.content and turns[event.batch] == 2:
                proposals.setdefault(event.batch, set()).add(event.content.target)
        assert all(len(targets) == 1 for targets in proposals.values())
        agreed += len(proposals)
    assert agreed > GAMES


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


def test_about_three_ballots_in_four_have_a_reason(games: list[Played]):
    ballots = [
        event.content
        for game in games
        for event in game.events
        if event.type == "answered" and event.kind == "vote" and event.content
    ]
    share = sum(ballot.reason is not None for ballot in ballots) / len(ballots)
    assert 0.7 <= share <= 0.8
    assert any(ballot.target is None for ballot in ballots)


def test_seers_come_forward_with_what_they_found(games: list[Played]):
    told = 0
    for game in games:
        for event in game.events:
            if event.type == "claim_truth":
                told += any(scored.claim.claim == "inspection" and scored.verdict == "true" for scored in event.claims)
    assert told > GAMES // 4


def test_some_werewolves_pose_as_the_seer_but_not_all(games: list[Played]):
    posed = played = 0
    for game in games:
        wolves = [name for name, role in game.roles.items() if role == "Werewolf"]
        claimed = {
            event.speaker
            for event in game.events
            if event.type == "statement" and read(event.text, tuple(game.views)).claimed == "Seer"
        }
        posed += sum(name in claimed for name in wolves)
        played += len(wolves)
    assert 0 < posed < played / 2


def test_no_reason_or_statement_names_the_dead_as_somebody_to_exile(games: list[Played]):
    for game in games:
        dead: set[str] = set()
        for event in game.events:
            if event.type == "statement":
                assert not dead & set(read(event.text, tuple(game.views)).accused), event.text
            elif event.type == "dawn" and event.died:
                dead.add(event.died)
            elif event.type == "exile" and event.seat:
                dead.add(event.seat)


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
