"""Several answers in one reply: each is read for itself, and none is lost for another's sake."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.llm.tables import tables
from tests.reading.test_corpus import CORPUS, NAMES, VOTABLE
from tests.reading.test_properties import anything
from wolfbus.game.vocabulary import Kind
from wolfbus.messages.content import CONTENT, Ballot, Bid, Content, Judgement, Label, Speech
from wolfbus.reading import Question, read, read_parts

BID, J12, J13 = Question("bid"), Question("assess_other"), Question("assess_other")
ONE = {"bid": BID, "judgement_12": J12}
TWO = {"bid": BID, "judgement_12": J12, "judgement_13": J13}
SPOKEN = {"speech": Question("speak"), "label": Question("assess_own")}
VOTE = {"vote": Question("vote", VOTABLE, NAMES), "judgement_12": J12}
ALONE = {"bid": BID}

THREE = Bid(bid=3)
LIES = Judgement(deceptive=True, suspicion=0.7, confidence=0.6, kind="omission")
FINE = Judgement(deceptive=False, suspicion=0.1, confidence=0.9)
SAID = Speech(text="Bram dodged.")
HONEST = Label(deceptive=False, confidence=0.9)

B = '{"bid": 3}'
L = '{"deceptive": true, "suspicion": 0.7, "confidence": 0.6, "kind": "omission"}'
S = '{"text": "Bram dodged."}'
H = '{"deceptive": false, "confidence": 0.9}'
WHOLE = f'{{"bid": {B}, "judgement_12": {L}}}'
SAYS = f'{{"speech": {S}, "label": {H}}}'
MEMBERS = '"deceptive": true, "suspicion": 0.7, "confidence": 0.6, "kind": "omission"'


GIVEN = {"three": THREE, "lies": LIES, "fine": FINE, "said": SAID, "honest": HONEST}
ASKED = {
    "one": ONE,
    "two": TWO,
    "spoken": SPOKEN,
    "vote": VOTE,
    "vote and label": {"vote": VOTE["vote"], "label": SPOKEN["label"]},
    "alone": ALONE,
    "spoken and bid": {**SPOKEN, "bid": BID},
}
SEVERAL = tables(__file__)["reply"]
TOO_LONG = {"name": "far too long", "asked": "one", "text": "x" * 1_000_001, "read": ["unparseable", "unparseable"]}


def content_of(kind: Kind, spec: str | dict[str, Any]) -> Content:
    return GIVEN[spec] if isinstance(spec, str) else CONTENT[kind].model_validate({**_NOBODY.get(kind, {}), **spec})


_NOBODY: dict[str, dict[str, None]] = {"vote": {"target": None}}


@pytest.mark.parametrize("reply", [*SEVERAL, TOO_LONG], ids=lambda reply: reply["name"])
def test_several_answers_in_one_reply_are_read_each_for_itself(reply: dict[str, Any]) -> None:
    questions = ASKED[reply["asked"]]
    got = read_parts(reply["text"], questions)

    assert list(got) == list(questions)
    for (name, part), expected in zip(got.items(), reply["read"], strict=True):
        if isinstance(expected, str):
            assert (part.content, part.fault) == (None, expected), (name, part)
            assert part.note, name
        else:
            assert (part.content, part.reading) == (content_of(questions[name].kind, expected[0]), expected[1]), (
                name,
                part,
            )
            assert part.note is None, name


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f'{{"judgement_12": {L}}}', 'the reply lacks "bid"'),
        (f'{{"judgement_12": {L}, "b', 'the reply was cut off before "bid"'),
        (f'{{"judgement_12": {L}, "bid": "Thr', 'the reply was cut off in "bid"'),
        ('{"error": "overloaded"}', "the reply is an error message, not an answer"),
        ("Hello", 'the reply holds no JSON object with "bid"'),
        (f'{{"bid": 1, "bid": 2, "judgement_12": {L}}}', '"bid" is given twice, and differently'),
        ('{"bid": {"bid": 12}}', '"bid" 12 is outside 0 to 10'),
    ],
)
def test_what_is_wrong_with_a_part_can_be_sent_back_to_the_model(text: str, note: str) -> None:
    assert read_parts(text, ONE)["bid"].note == note


def test_a_statement_that_is_longer_than_the_rules_allow_can_be_sent_back_and_a_reason_is_left_out() -> None:
    said = read('{"text": "It was Bram, no doubt."}', Question("speak", max_statement=10))
    assert (said.fault, said.note) == ("illegal", '"text" has 22 characters, and a statement may have 10')
    vote = Question("vote", names=("Bram",), max_statement=10)
    voted = read('{"target": "Bram", "reason": "He dodged, all day long."}', vote)
    assert (voted.content, voted.reading) == (Ballot(target="Bram", reason=None), "coerced")


def test_each_part_has_its_own_thought_and_one_beside_them_goes_to_the_first() -> None:
    text = f'{{"bid": {{"thought": "now", "bid": 3}}, "judgement_12": {{"thought": "hm", {MEMBERS}}}}}'
    assert [part.thought for part in read_parts(text, ONE).values()] == ["now", "hm"]

    beside = read_parts(f'<think>first</think>{{"thought": "all", "bid": 3, "judgement_12": {L}}}', ONE)
    assert [part.thought for part in beside.values()] == ["first\n\nall", None]

    listed = read_parts(f'[{{"judgement_12": {{"thought": "hm", {MEMBERS}}}}}, {{"bid": {B}}}]', ONE)
    assert [part.thought for part in listed.values()] == [None, "hm"]

    bare = read_parts('{"thought": "once", "statement": "Bram dodged.", "deceptive": false, "confidence": 1}', SPOKEN)
    assert [part.thought for part in bare.values()] == ["once", None]


def _objects() -> list[tuple[Kind, Any]]:
    objects = []
    for ugly in CORPUS:
        try:
            value = json.loads(ugly.text)
            json.dumps(value, allow_nan=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            objects.append((ugly.kind, value))
    return objects


@pytest.mark.parametrize(("kind", "value"), _objects())
def test_an_ugly_object_reads_the_same_as_a_part(kind: Kind, value: dict[str, Any]) -> None:
    text = json.dumps(value)
    alone = read(text, Question(kind, legal=VOTABLE, names=NAMES))
    other: Kind = "assess_own" if kind == "bid" else "bid"

    got = read_parts(
        f'{{"this": {text}, "other": {{"bid": 3, {H[1:]}}}',
        {"this": Question(kind, VOTABLE, NAMES), "other": Question(other)},
    )

    assert got["this"] == alone
    assert got["other"].reading == "clean"


wanted_sets = st.sampled_from([ONE, TWO, SPOKEN, VOTE, ALONE, {"judgement_12": J12, "label": Question("assess_own")}])
crumbs = st.sampled_from(
    [WHOLE, SAYS, L, B, '"judgements":[', '{"bid":', '"judgement_12":', '"statement":12,', "}", "{", "]", ","]
)


@given(anything | st.lists(crumbs | anything, max_size=8).map("".join), wanted_sets)
@settings(max_examples=150)
def test_no_text_makes_reading_parts_raise(text: str, questions: Mapping[str, Question]) -> None:
    got = read_parts(text, questions)

    assert list(got) == list(questions)
    for part in got.values():
        assert (part.content is None) == (part.fault is not None) == (part.note is not None)
        (part.thought or "").encode()


@given(st.sampled_from([(WHOLE, ONE), (SAYS, SPOKEN)]), st.data())
def test_a_cut_anywhere_brings_in_no_value_that_was_not_there(reply, data):
    text, questions = reply
    whole = read_parts(text, questions)
    cut = read_parts(text[: data.draw(st.integers(0, len(text)))], questions)

    for name, part in cut.items():
        if part.content is not None:
            content = (
                part.content.model_copy(update={"kind": "omission"})
                if isinstance(part.content, Judgement)
                else part.content
            )
            assert content == whole[name].content
