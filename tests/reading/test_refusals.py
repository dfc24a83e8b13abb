"""Refusals in the words of a form are results and no statements, in several languages; players who refuse one another
something say something.
"""

import json

import pytest

from tests.llm.tables import tables
from wolfbus.reading import Question, read, read_parts

TABLES = tables(__file__)
NAMES = ("Ann", "Bob", "Bram")


@pytest.mark.parametrize("words", TABLES["refusals"]["said"])
def test_a_refusal_is_no_statement_reason_or_judgement_in_prose_or_in_json(words: str) -> None:
    replies = {
        "speak": {"thought": "Hm.", "text": words},
        "vote": {"target": "Bob", "reason": words},
        "assess_other": {"deceptive": False, "suspicion": 0.5, "confidence": 0.5, "kind": "none", "reasoning": words},
    }
    for kind, value in replies.items():
        for text in (json.dumps(value, ensure_ascii=False), words):
            came = read(text, Question(kind, NAMES if kind == "vote" else None, NAMES))
            assert (came.fault, came.content) == ("refused", None), (kind, text)
    parts = read_parts(
        json.dumps({"vote": {"target": "Bob", "reason": words}, "bid": 3}),
        {"vote": Question("vote", NAMES, NAMES), "bid": Question("bid", None, NAMES)},
    )
    assert (parts["vote"].fault, parts["bid"].fault) == ("refused", None)


@pytest.mark.parametrize("words", TABLES["statements"]["said"])
def test_what_players_refuse_one_another_is_a_statement(words: str) -> None:
    came = read(json.dumps({"text": words}), Question("speak", None, NAMES))
    assert came.fault is None, came.note
    assert came.content.text == words
