"""The rules in words say what each switch of a config does, and stop saying what it undoes."""

from __future__ import annotations

import difflib

import pytest

from wolfbus.config import Deadlines, GameConfig
from wolfbus.rules import rules_text

SWITCHES = [
    # field, value, words that appear, words of the default text that disappear
    ("villagers", 5, "9 players: 5 Villagers", "4 Villagers"),
    ("werewolves", 1, "Nobody knows another player's role.", "know each other"),
    ("seers", 2, "Each Seer inspects", "The Seer inspects"),
    ("seers", 0, "7 players", "Seer inspects"),
    ("doctors", 2, "Each Doctor protects", "The Doctor protects"),
    ("doctors", 0, "7 players", "protected player"),
    ("debate_turns", 3, "3 turns of debate", "6 turns"),
    ("debate_turns", 1, "1 turn of debate", "6 turns"),
    ("debate_turns", 0, "There is no debate.", "bids 0 to"),
    ("bid_max", 20, "bids 0 to 20", "bids 0 to 10"),
    ("overbid_at", 7, "every bid of 7 or more made earlier that day", "bid of 8 or more"),
    ("overbid_factor", 0.5, "counts 0.5 times", "0.85"),
    ("overbid_factor", 1.0, "", "A bid counts"),
    ("mention_weight", 5, "named in the previous statement weighing 5 to 1", "2 to 1"),
    ("mention_weight", 1, "ties are decided by lot.", "named in the previous statement"),
    ("overlap", False, "before anybody bids again", "while the next bids"),
    ("protocol", "compact", "may be asked to answer several of its requests at once", ""),
    ("vote_reasons", False, "without reasons", "each given reason is a statement"),
    ("self_vote", True, "for any living player, itself included", "for another living player"),
    ("max_rounds", 4, "After 4 completed days", "10 completed"),
    ("max_rounds", 1, "After 1 completed day the game", "10 completed"),
    ("first_night_kill", False, "In the first night nobody is killed.", ""),
    ("whispers", 1, "make one proposal each", "twice"),
    ("whispers", 3, "propose 3 times", "twice"),
    ("doctor_self", False, "protects any other living player", "protects any living player, itself included"),
    ("doctor_repeat", False, "The player of the night before is no choice.", ""),
    ("kill_optional", True, "who is no Werewolf, or nobody; that player", "who is no Werewolf; that player"),
    ("protect_optional", True, "itself included, or nobody, for this night", "itself included, for this night"),
    ("inspect_optional", True, "not inspected before, or nobody", "inspected before, and learns"),
    ("reveal_on_death", "team", "learns whether it was a Werewolf", "not revealed"),
    ("reveal_on_death", "role", "everybody learns its role", "not revealed"),
    ("alpha", 0.6, "0.6 times the new suspicion plus 0.4 times the old", "0.7 times"),
    ("prior", 0.25, "it starts at 0.25", "it starts at 0.5"),
    ("strikes", 5, "5 requests in a row", "3 requests"),
    ("strikes", 1, "1 request in a row", "3 requests"),
    ("absent_grace", 2.5, "only 2.5 s for each", "only 1 s for each"),
    ("max_reply_bytes", 1000, "Answers over 1000 bytes", "65536"),
    ("deadlines", Deadlines(bid=33.0), "33 s to bid", "60 s"),
]


def test_every_field_of_the_rules_has_its_words_checked():
    # who sits where is no rule, nor what prompts repeat
    assert {field for field, *_ in SWITCHES} == set(GameConfig.model_fields) - {"names", "roles", "memory"}


@pytest.mark.parametrize(("field", "value", "says", "no_longer"), SWITCHES)
def test_the_text_says_what_a_switch_does(field, value, says, no_longer):
    usual, text = rules_text(GameConfig()), rules_text(GameConfig(**{field: value}))
    assert text != usual
    assert says in text
    assert not says or says not in usual
    assert no_longer in usual
    assert not no_longer or no_longer not in text


@pytest.mark.parametrize(
    ("field", "value", "lines"),
    [
        ("first_night_kill", False, 2), ("doctor_self", False, 1), ("doctor_repeat", False, 1),
        ("kill_optional", True, 1), ("protect_optional", True, 1), ("inspect_optional", True, 1),
        ("self_vote", True, 1), ("overlap", False, 1), ("vote_reasons", False, 1), ("reveal_on_death", "role", 1),
        ("max_rounds", 4, 1), ("strikes", 5, 1), ("mention_weight", 5, 1), ("whispers", 3, 1),
    ],
)  # fmt: skip
def test_a_switch_changes_no_sentence_of_another(field, value, lines):
    usual, text = rules_text(GameConfig()), rules_text(GameConfig(**{field: value}))
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
