"""What must hold for every answer of our own brains: legal, of its kind, and a function of view and request."""

from __future__ import annotations

import copy
from collections import Counter

import pytest

from players.scripted import RandomBrain, ScriptedBrain, SilentBrain
from tests.game.driver import verify
from tests.players.table import CONFIGS, answer_of, play
from tests.record.synthetic import record
from wolfbus.agent import NO_ANSWER, Agent, Answer
from wolfbus.game.config import GameConfig
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import published_words
from wolfbus.messages.requests import Ask


@pytest.mark.parametrize("rules", CONFIGS)
def test_every_answer_of_a_game_is_legal(rules: str):
    # the table checks each; by re-execution even what a label says of its kind is settled
    verify(record(play(rules, CONFIGS[rules]).events))
    for brains in ((RandomBrain,), (ScriptedBrain, RandomBrain)):
        kinds: Counter[str] = Counter()
        for seed in range(2):
            played = play(f"{rules} {seed}", CONFIGS[rules], brains)
            kinds.update(question.kind for question in played.questions)
        assert kinds["vote"]


@pytest.mark.parametrize(("brain", "most"), [(ScriptedBrain, 100), (RandomBrain, 40)])
def test_where_statements_have_to_be_short_something_short_is_said(brain: type[Agent], most: int):
    def watch(ask: Ask, view: SeatView, answer: Answer) -> None:
        assert view.config.may_be_said(published_words(answer.content))

    # the table sees that nobody who has the floor says nothing
    play("short", GameConfig(max_statement=most, max_rounds=3), (brain,), watch)


@pytest.mark.parametrize("brain", [ScriptedBrain, RandomBrain])
@pytest.mark.parametrize("in_house", [True, False])
def test_equal_views_and_requests_give_equal_answers_from_any_instance_and_leave_the_view_as_it_was(
    brain: type[Agent], in_house: bool
):
    shared = brain()
    moments: list[tuple[Ask, SeatView, Answer]] = []

    def watch(ask: Ask, view: SeatView, answer: Answer) -> None:
        before = copy.deepcopy(view) if ask.kind in {"speak", "vote", "whisper"} else None
        assert answer_of(brain(), ask, view) == answer
        assert answer_of(shared, ask, view) == answer
        if before is not None:
            assert answer_of(shared, ask, before) == answer
            assert (view, view.suspicion.pairs()) == (before, before.suspicion.pairs())
            moments.append((ask, copy.deepcopy(view, {id(view.knowledge): view.knowledge}), answer))

    played = play("purity", CONFIGS["paper"], (brain,), watch, in_house=in_house)
    assert played.ended
    # so it is for a seat that has heard less than others at its table
    for ask, view, answer in moments:
        assert answer_of(brain(), ask, view) == answer


def test_the_silent_brain_answers_nothing():
    def watch(ask: Ask, view: SeatView, answer: Answer) -> None:
        assert SilentBrain().answer(ask, view) is NO_ANSWER

    play("silence", CONFIGS["small"], (RandomBrain,), watch)
    assert SilentBrain.quick
