"""The rules in words say what each switch of a config does, and stop saying what it undoes."""

from __future__ import annotations

import difflib

import pytest

from tests.llm.tables import tables
from wolfbus.game.config import GameConfig, config_from_table, rules_text

TABLES = tables(__file__)


def config(field: str, value: object) -> GameConfig:
    return config_from_table({field: value})


def test_every_field_of_the_rules_has_its_words_checked():
    # who sits where is no rule, nor what prompts repeat, nor what a report leaves out
    assert {field for field, *_ in TABLES["switches"]} == set(GameConfig.model_fields) - {
        "names",
        "roles",
        "memory",
        "spoilt_above",
    }


@pytest.mark.parametrize(("field", "value", "says", "no_longer"), TABLES["switches"])
def test_the_text_says_what_a_switch_does(field, value, says, no_longer):
    usual, text = rules_text(GameConfig()), rules_text(config(field, value))
    assert text != usual
    assert says in text
    assert not says or says not in usual
    assert no_longer in usual
    assert not no_longer or no_longer not in text


@pytest.mark.parametrize(("field", "value", "lines"), TABLES["lines"])
def test_a_switch_changes_no_sentence_of_another(field, value, lines):
    usual, text = rules_text(GameConfig()), rules_text(config(field, value))
    new = [line for line in difflib.ndiff(usual.splitlines(), text.splitlines()) if line.startswith("+")]
    assert len(new) == lines


def test_the_usual_text_says_what_the_paper_plays():
    text = rules_text(GameConfig())
    for words in (
        "8 players: 4 Villagers, 2 Werewolves, 1 Seer, 1 Doctor.",
        "A bid counts 0.85 times as much for every bid of 8 or more made earlier that day.",
        "A player named by a strict majority of the living is exiled",
        "for another living player or for nobody (abstaining)",
        "The Werewolves win when they are at least as many as the other living players.",
    ):
        assert words in text
