"""How scripted players play, what they call their statements, and what they read in those of others."""

from __future__ import annotations

from collections import Counter
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.scripted.cues import read
from tests.llm.tables import tables
from tests.players.table import CONFIGS, Played, play
from wolfbus.messages.content import Label
from wolfbus.messages.events import Statement

GAMES = 60
NAMES = ("Ada", "Bruno", "Chloe", "Dario")
SENTENCES = tables(__file__)["sentences_of_other_players_are_read_sensibly"]


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
    found: dict[str, list[float]] = {"Werewolf": [], "Villager": []}
    for game in games:
        for observer, view in game.views.items():
            for (_, target), value in view.suspicion.pairs().items():
                if game.roles[observer] != "Werewolf" and game.roles[target] in found:
                    found[game.roles[target]].append(value)
    assert fmean(found["Werewolf"]) > fmean(found["Villager"]) + 0.02


def labelled(game: Played) -> list[tuple[Statement, Label]]:
    statements = {event.statement: event for event in game.events if event.type == "statement"}
    return [
        (statements[event.about], event.content)
        for event in game.events
        if event.type == "answered" and event.kind == "assess_own" and event.about and event.content
    ]


def test_a_lie_is_always_admitted_in_private_and_one_about_oneself_or_a_vision_called_a_fabrication(
    games: list[Played],
):
    lies = Counter[str]()
    for game in games:
        labels = {statement.statement: label for statement, label in labelled(game)}
        speakers = {event.statement: event.speaker for event in game.events if event.type == "statement"}
        for event in game.events:
            for scored in event.claims if event.type == "claim_truth" else ():
                if scored.verdict == "lie":
                    assert labels[event.statement].deceptive
                    lies[scored.claim.claim] += 1
                    if scored.claim.claim == "role" and scored.claim.target == speakers[event.statement]:
                        assert labels[event.statement].kind == "fabrication"
                        lies[scored.claim.role] += 1
    assert lies.total() > GAMES
    assert lies["Seer"]
    assert lies["Villager"]


@pytest.mark.parametrize(
    ("text", "accused", "doubted", "trusted"),
    SENTENCES,
)
def test_sentences_of_other_players_are_read_sensibly(
    text: str, accused: list[str], doubted: list[str], trusted: list[str]
):
    cues = read(text, NAMES)
    assert [list(each) for each in (cues.accused, cues.doubted, cues.trusted)] == [accused, doubted, trusted]


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30), st.sampled_from([*NAMES, "I am the Seer", "vote for", "\ue000", "wolf", "I saw"])
        )
    ),
    st.sampled_from([NAMES, (), ("I",), ("a*b(c", "Ann", "Ann Marie", "{t}")]),
)
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_read(parts: list[str], names: tuple[str, ...]):
    cues = read(" ".join(parts), names)
    for found in (cues.named, cues.accused, cues.doubted, cues.trusted):
        assert set(found) <= set(names)
        assert len(set(found)) == len(found)
