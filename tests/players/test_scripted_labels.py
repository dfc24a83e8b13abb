"""Scripted players label their statements by what they said and what they knew."""

from __future__ import annotations

from collections import Counter

import pytest

from players.scripted.cues import read
from tests.players.table import CONFIGS, Played, play
from wolfbus.messages.content import Label
from wolfbus.messages.events import Statement

GAMES = 40


@pytest.fixture(scope="module")
def games() -> list[Played]:
    return [play(f"labels {seed}", CONFIGS["paper"]) for seed in range(GAMES)]


def labelled(game: Played) -> list[tuple[Statement, Label]]:
    statements = {event.statement: event for event in game.events if event.type == "statement"}
    return [
        (statements[event.about], event.content)
        for event in game.events
        if event.type == "answered" and event.kind == "assess_own" and event.about and event.content
    ]


def test_a_false_claim_to_be_somebody_is_called_a_fabrication(games: list[Played]):
    found = Counter[str]()
    for game in games:
        for statement, label in labelled(game):
            claimed = read(statement.text, tuple(game.views)).claimed
            if claimed is not None and claimed != game.roles[statement.speaker]:
                assert label.kind == "fabrication", statement.text
                found[claimed] += 1
    assert found["Seer"]
    assert found["Villager"]


def test_a_lie_is_always_admitted_in_private(games: list[Played]):
    lies = 0
    for game in games:
        labels = {statement.statement: label for statement, label in labelled(game)}
        for event in game.events:
            if event.type == "claim_truth" and any(scored.verdict == "lie" for scored in event.claims):
                assert labels[event.statement].deceptive
                lies += 1
    assert lies > GAMES
