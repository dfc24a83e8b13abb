"""What must hold for every answer of our own brains: legal, of its kind, and a function of view and request."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from players.baselines import RandomBrain, SilentBrain
from players.scripted import ScriptedBrain
from tests.players.table import CONFIGS, answer_of, play
from wolfbus.agent import NO_ANSWER, Agent
from wolfbus.agent.answer import Answer, reply_to
from wolfbus.messages.codec import REPLIES, pack, unpack, validate
from wolfbus.messages.requests import Ask
from wolfbus.view import SeatView

TABLES = [(ScriptedBrain,), (RandomBrain,), (ScriptedBrain, RandomBrain)]


@pytest.mark.parametrize("brains", TABLES, ids=["scripted", "random", "mixed"])
@pytest.mark.parametrize("rules", CONFIGS)
def test_every_answer_of_a_game_is_legal_and_travels(rules: str, brains: tuple[type[Agent], ...]):
    kinds: Counter[str] = Counter()

    def watch(ask: Ask, view: SeatView, answer: Answer) -> None:
        kinds[ask.kind] += 1
        reply = validate(REPLIES, unpack(pack(reply_to("g", view.me, ask, answer))))
        assert reply.content == answer.content

    for seed in range(4):
        play(f"{rules} {seed}", CONFIGS[rules], brains, watch)
    assert kinds["vote"]


@pytest.mark.parametrize("brain", [ScriptedBrain, RandomBrain])
@pytest.mark.parametrize("in_house", [True, False])
def test_equal_views_and_requests_give_equal_answers_from_any_instance(brain: type[Agent], in_house: bool):
    shared = brain()

    def watch(ask: Ask, view: SeatView, answer: Answer) -> None:
        assert answer_of(brain(), ask, view) == answer
        assert answer_of(shared, ask, view) == answer
        if ask.kind in {"speak", "vote", "whisper"}:
            assert answer_of(shared, ask, copy.deepcopy(view)) == answer

    play("purity", CONFIGS["paper"], (brain,), watch, in_house=in_house)


@pytest.mark.parametrize("brain", [ScriptedBrain, RandomBrain])
def test_a_brain_leaves_its_view_as_it_was(brain: type[Agent]):
    def watch(ask: Ask, view: SeatView, answer: Answer) -> None:
        before = copy.deepcopy(view)
        before_pairs = view.suspicion.pairs()
        answer_of(brain(), ask, view)
        assert view.suspicion.pairs() == before_pairs
        for name in ("names", "dead", "public", "statements", "tallies", "inspections", "answers", "whispers"):
            assert getattr(view, name) == getattr(before, name)

    play("untouched", CONFIGS["small"], (brain,), watch)


def test_answers_do_not_depend_on_the_hash_seed():
    home = Path(__file__).resolve().parents[2]
    digests = {
        subprocess.run(
            [sys.executable, "-m", "tests.players.table"],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=home,
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(digests) == 1


def test_the_silent_brain_answers_nothing():
    def watch(ask: Ask, view: SeatView, answer: Answer) -> None:
        assert SilentBrain().answer(ask, view) is NO_ANSWER

    play("silence", CONFIGS["small"], (RandomBrain,), watch)
    assert SilentBrain.quick
