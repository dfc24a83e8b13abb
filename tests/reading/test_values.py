"""Single values of a reply: numbers, flags, names and kinds of deception; see `test_values.toml`."""

import json
from typing import Any

import pytest

from tests.llm.tables import tables
from wolfbus.game.vocabulary import Kind
from wolfbus.messages.content import Bid, Judgement, Label
from wolfbus.reading import Question, normalise, read, resolve_name

TABLE: Any = tables(__file__)
CASES = [
    (shape, *case) if outcome == "got" else (shape, case, outcome, None)
    for shape, outcomes in TABLE.items()
    for outcome, cases in outcomes.items()
    for case in cases
]
ASKED: dict[str, tuple[Kind, str, dict[str, Any]]] = {
    "unit": ("assess_own", "confidence", {"deceptive": True, "kind": "omission"}),
    "whole": ("bid", "bid", {}),
    "truth": ("assess_own", "deceptive", {"confidence": 0.5}),
    "name": ("vote", "target", {}),
    "kind": ("assess_own", "kind", {"deceptive": True, "confidence": 0.5}),
}
"""Of each shape a question that asks for such a value, as which member, and what else its answer holds."""


@pytest.mark.parametrize(("shape", "value", "expected", "coerced"), CASES)
def test_a_value_is_read_where_it_can_mean_one_thing_only(shape: str, value: Any, expected: Any, coerced: bool | None):
    kind, member, others = ASKED[shape]
    question = Question(kind, ("Ana", "Anatol", "Bram", None), ("Ana", "Anatol", "Bram", "Dilara"))
    got = read(json.dumps({**others, member: value}), question)
    if coerced is None:
        assert (got.content, got.fault) == (None, expected)
    else:
        assert getattr(got.content, member) == (None if expected == "" else expected)
        assert got.reading == ("coerced" if coerced else "clean")


def test_of_names_the_longest_counts_and_words_that_look_like_one_do_not() -> None:
    assert resolve_name("Ana", ("Anatol", "Ana")).name == resolve_name("ana", ("Anatol", "Ana")).name == "Ana"
    assert resolve_name("nobody", ("Ana", "Bram")).fault == "illegal"
    assert resolve_name("I vote: Ann Lee is out", ("Ann", "Ann Lee")).name == "Ann Lee"
    assert resolve_name("to be frank, I will wait", ("Frank", "Will")).fault == "illegal"


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("not Bram", 'the reply does not say plainly whom: "not Bram"'),
        ('{"target": "not Bram"}', '"target" "not Bram" does not say plainly whom; one of: Ana, Bram, null (nobody)'),
    ],
)
def test_a_name_that_is_ruled_out_is_not_called_several_players(text: str, note: str) -> None:
    assert read(text, Question("vote", ("Ana", "Bram", None), ("Ana", "Bram"))).note == note


@pytest.mark.parametrize(
    ("deceptive", "kind", "stated", "settled"),
    [
        (False, "distortion", None, ("none", "distortion")),
        (True, "none", None, ("unspecified", "none")),
        (True, "omission", "fabrication", ("omission", None)),
    ],
)
def test_the_flag_overrules_the_kind_which_is_kept_as_stated(deceptive, kind, stated, settled):
    label = normalise(Label(deceptive=deceptive, confidence=0.5, kind=kind, stated_kind=stated))
    judgement = Judgement(deceptive=deceptive, suspicion=0.9, confidence=0.5, kind=kind, stated_kind=stated)
    for assessed in (label, normalise(judgement)):
        assert (assessed.kind, assessed.stated_kind) == settled
    assert normalise(bid := Bid(bid=3)) is bid


@pytest.mark.parametrize("kind", ["speak", "vote"])
def test_a_label_beside_the_words_is_read_with_them_and_costs_them_nothing_where_it_cannot_be(kind: Kind) -> None:
    words = {"text": "I am new here."} if kind == "speak" else {"target": "Ana", "reason": "I am new here."}
    question = Question(kind, ("Ana", None), ("Ana",))
    for given, expected, reading in (
        ({"deceptive": True, "confidence": 0.9, "kind": "omission"}, (True, "omission"), "clean"),
        ({"deceptive": "no", "confidence": "80%"}, (False, "none"), "coerced"),
        ({"confidence": 0.9}, None, "coerced"),
        ("honest", None, "coerced"),
    ):
        got = read(json.dumps({**words, "label": given}), question)
        label: Any = getattr(got.content, "label", None)
        assert (label and (label.deceptive, label.kind), got.reading) == (expected, reading), given
    assert getattr(read(json.dumps(words), question).content, "label", "none") is None
