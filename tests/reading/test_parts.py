"""Several answers in one reply: each is read for itself, and none is lost for another's sake."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reading.corpus import CORPUS, NAMES, VOTABLE, fenced
from tests.reading.test_properties import CONTENTS, anything
from wolfbus.messages.content import Ballot, Bid, Content, Judgement, Label, Speech
from wolfbus.reading import Question, read, read_parts
from wolfbus.vocabulary import KINDS, Fault, Kind, Reading

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
F = '{"deceptive": false, "suspicion": 0.1, "confidence": 0.9}'
S = '{"text": "Bram dodged."}'
H = '{"deceptive": false, "confidence": 0.9}'
WHOLE = f'{{"bid": {B}, "judgement_12": {L}}}'
SAYS = f'{{"speech": {S}, "label": {H}}}'
MEMBERS = '"deceptive": true, "suspicion": 0.7, "confidence": 0.6, "kind": "omission"'

Expected = tuple[Content, Reading] | Fault


@dataclass(frozen=True)
class Case:
    name: str
    wanted: Mapping[str, Question]
    text: str
    expected: tuple[Expected, ...]


def case(name: str, wanted: Mapping[str, Question], text: str, *expected: Expected) -> Case:
    return Case(name, wanted, text, expected)


UNFINISHED = f'{{"bid": {B}, "judgements": [{{"statement": 12, {MEMBERS}}}, {{"statement": 13, "dec'
THREE_CLEAN: Expected = (THREE, "clean")
THREE_EXTRACTED: Expected = (THREE, "extracted")
THREE_REPAIRED: Expected = (THREE, "repaired")
THREE_COERCED: Expected = (THREE, "coerced")
LIES_CLEAN: Expected = (LIES, "clean")
LIES_EXTRACTED: Expected = (LIES, "extracted")
LIES_REPAIRED: Expected = (LIES, "repaired")
LIES_COERCED: Expected = (LIES, "coerced")
FINE_CLEAN: Expected = (FINE, "clean")
FINE_COERCED: Expected = (FINE, "coerced")
SAID_CLEAN: Expected = (SAID, "clean")
SAID_COERCED: Expected = (SAID, "coerced")
HONEST_CLEAN: Expected = (HONEST, "clean")
HONEST_REPAIRED: Expected = (HONEST, "repaired")
HONEST_COERCED: Expected = (HONEST, "coerced")

CASES = [
    case("as asked", ONE, WHOLE, THREE_CLEAN, LIES_CLEAN),
    case("a statement with its label", SPOKEN, SAYS, SAID_CLEAN, HONEST_CLEAN),
    case("in another order", ONE, f'{{"judgement_12": {L}, "bid": {B}}}', THREE_CLEAN, LIES_CLEAN),
    case(
        "more than was asked",
        ONE,
        f'{{"mood": 1, "bid": {B}, "judgement_12": {L}, "x": {{"y": 2}}}}',
        THREE_CLEAN,
        LIES_CLEAN,
    ),
    case("each with its own rung", ONE, f'{{"bid": {{"bid": "3"}}, "judgement_12": {L}}}', THREE_COERCED, LIES_CLEAN),
    case("in a fence", ONE, fenced(WHOLE), THREE_EXTRACTED, LIES_EXTRACTED),
    case("in prose", ONE, f"Here it is: {WHOLE} Good luck!", THREE_EXTRACTED, LIES_EXTRACTED),
    case("behind thinking", ONE, f'<think>{{"bid": 9}}</think>{WHOLE}', THREE_EXTRACTED, LIES_EXTRACTED),
    case("behind a byte order mark", ONE, "\ufeff" + WHOLE, THREE_EXTRACTED, LIES_EXTRACTED),
    case("with a control character", ONE, "\x07" + WHOLE, THREE_REPAIRED, LIES_REPAIRED),
    case("as a string of JSON", ONE, json.dumps(WHOLE), THREE_EXTRACTED, LIES_EXTRACTED),
    case("with trailing commas", ONE, f'{{"bid": {B}, "judgement_12": {L},}}', THREE_REPAIRED, LIES_REPAIRED),
    case(
        "as Python writes it",
        ONE,
        str({"bid": {"bid": 3}, "judgement_12": LIES.model_dump()}),
        THREE_REPAIRED,
        LIES_REPAIRED,
    ),
    case("names in capitals", ONE, f'{{"BID": {B}, "Judgement_12": {L}}}', THREE_COERCED, LIES_COERCED),
    case("names with blanks", ONE, f'{{"bid": {B}, "judgement 12": {L}}}', THREE_CLEAN, LIES_COERCED),
    case("names in camel case", ONE, f'{{"bid": {B}, "judgement12": {L}}}', THREE_CLEAN, LIES_COERCED),
    case("American names", ONE, f'{{"bid": {B}, "judgment_12": {L}}}', THREE_CLEAN, LIES_COERCED),
    case("an only one without its number", ONE, f'{{"bid": {B}, "judgement": {L}}}', THREE_CLEAN, LIES_COERCED),
    case("the kinds' names", SPOKEN, f'{{"speak": {S}, "self_label": {H}}}', SAID_COERCED, HONEST_COERCED),
    case(
        "grouped by number",
        TWO,
        f'{{"bid": {B}, "judgements": {{"12": {L}, "13": {F}}}}}',
        THREE_CLEAN,
        LIES_COERCED,
        FINE_COERCED,
    ),
    case(
        "grouped by names",
        TWO,
        f'{{"bid": {B}, "judgements": {{"statement_12": {L}, "#13": {F}}}}}',
        THREE_CLEAN,
        LIES_COERCED,
        FINE_COERCED,
    ),
    case(
        "a list with numbers",
        TWO,
        f'{{"bid": {B}, "judgements": [{{"statement": 13, {F[1:]}, {{"statement": "#12", {MEMBERS}}}]}}',
        THREE_CLEAN,
        LIES_COERCED,
        FINE_COERCED,
    ),
    case("a list of the only one", ONE, f'{{"bid": {B}, "judgements": [{L}]}}', THREE_CLEAN, LIES_COERCED),
    case(
        "a list without numbers",
        TWO,
        f'{{"bid": {B}, "judgements": [{L}, {F}]}}',
        THREE_CLEAN,
        "unparseable",
        "unparseable",
    ),
    case("a judgement of another statement", ONE, f'{{"bid": {B}, "judgement_11": {L}}}', THREE_CLEAN, "unparseable"),
    case(
        "another statement's number inside",
        ONE,
        f'{{"bid": {B}, "judgement": {{"statement": 11, {MEMBERS}}}}}',
        THREE_CLEAN,
        "unparseable",
    ),
    case("a part is missing", TWO, f'{{"bid": {B}, "judgement_13": {F}}}', THREE_CLEAN, "unparseable", FINE_CLEAN),
    case("a part is null", ONE, f'{{"bid": null, "judgement_12": {L}}}', "unparseable", LIES_CLEAN),
    case("a part is empty", ONE, f'{{"bid": {{}}, "judgement_12": {L}}}', "unparseable", LIES_CLEAN),
    case("a part is illegal", ONE, f'{{"bid": {{"bid": 30}}, "judgement_12": {L}}}', "illegal", LIES_CLEAN),
    case("a bid given flat", ONE, f'{{"bid": 3, "judgement_12": {L}}}', THREE_COERCED, LIES_CLEAN),
    case("a statement given flat", SPOKEN, f'{{"speech": "Bram dodged.", "label": {H}}}', SAID_COERCED, HONEST_CLEAN),
    case(
        "a vote given flat",
        VOTE,
        f'{{"vote": "bram", "judgement_12": {L}}}',
        (Ballot(target="Bram"), "coerced"),
        LIES_CLEAN,
    ),
    case(
        "a flat vote with its reason",
        VOTE,
        f'{{"vote": "Bram", "reason": "He hides.", "judgement_12": {L}}}',
        (Ballot(target="Bram", reason="He hides."), "coerced"),
        LIES_CLEAN,
    ),
    case(
        "an abstention given flat",
        VOTE,
        f'{{"vote": null, "judgement_12": {L}}}',
        (Ballot(target=None), "coerced"),
        LIES_CLEAN,
    ),
    case("an illegal vote", VOTE, f'{{"vote": {{"target": "Dilara"}}, "judgement_12": {L}}}', "illegal", LIES_CLEAN),
    case(
        "a label given flat lacks the rest", SPOKEN, f'{{"speech": {S}, "label": "honest"}}', SAID_CLEAN, "unparseable"
    ),
    case(
        "all given flat",
        SPOKEN,
        '{"statement": "Bram dodged.", "deceptive": false, "confidence": 0.9}',
        SAID_COERCED,
        HONEST_COERCED,
    ),
    case(
        "a part as a string of JSON",
        ONE,
        f'{{"bid": {json.dumps(B)}, "judgement_12": {L}}}',
        THREE_EXTRACTED,
        LIES_CLEAN,
    ),
    case("a part in a list", ONE, f'{{"bid": [{B}], "judgement_12": {L}}}', THREE_EXTRACTED, LIES_CLEAN),
    case("a part in a wrapper", ONE, f'{{"bid": {{"answer": {B}}}, "judgement_12": {L}}}', THREE_EXTRACTED, LIES_CLEAN),
    case("all in a wrapper", ONE, f'{{"response": {WHOLE}}}', THREE_EXTRACTED, LIES_EXTRACTED),
    case("all in a list", ONE, f"[{WHOLE}]", THREE_EXTRACTED, LIES_EXTRACTED),
    case("a list of parts", ONE, f'[{{"bid": {B}}}, {{"judgement_12": {L}}}]', THREE_EXTRACTED, LIES_EXTRACTED),
    case(
        "a list of bare answers",
        TWO,
        f'[{B}, {{"statement": 12, {MEMBERS}}}, {{"statement": 13, {F[1:]}]',
        THREE_COERCED,
        LIES_COERCED,
        FINE_COERCED,
    ),
    case("an object a part", ONE, f'{{"bid": {B}}}\n{{"judgement_12": {L}}}', THREE_EXTRACTED, LIES_EXTRACTED),
    case("a fence for each, and no names", ONE, fenced(B) + "\n" + fenced(L), THREE_COERCED, LIES_COERCED),
    case(
        "two bare judgements cannot be told apart",
        TWO,
        fenced(B) + fenced(L) + fenced(F),
        THREE_COERCED,
        "unparseable",
        "unparseable",
    ),
    case("the same twice", ONE, f"{WHOLE} {WHOLE}", THREE_EXTRACTED, LIES_EXTRACTED),
    case("two that differ in one", ONE, WHOLE + WHOLE.replace("3", "5"), "ambiguous", LIES_EXTRACTED),
    case(
        "a key twice in one object",
        ONE,
        f'{{"bid": {B}, "bid": {{"bid": 5}}, "judgement_12": {L}}}',
        "ambiguous",
        LIES_CLEAN,
    ),
    case(
        "two spellings that differ",
        ONE,
        f'{{"bid": {B}, "Bid": {{"bid": 5}}, "judgement_12": {L}}}',
        "ambiguous",
        LIES_CLEAN,
    ),
    case("cut off in the second", ONE, WHOLE[:-50], THREE_REPAIRED, "unparseable"),
    case("cut off before the second", ONE, f'{{"bid": {B}, "judg', THREE_REPAIRED, "unparseable"),
    case("cut off in the first", ONE, '{"bid": {"thought": "Well', "unparseable", "unparseable"),
    case("cut off in a number", ONE, f'{{"judgement_12": {L}, "bid": {{"bid": 1', "unparseable", LIES_REPAIRED),
    case(
        "cut off in public words",
        SPOKEN,
        f'{{"label": {H}, "speech": {{"text": "Bram dod',
        "unparseable",
        HONEST_REPAIRED,
    ),
    case(
        "cut off in flat public words", SPOKEN, f'{{"label": {H}, "speech": "Bram dod', "unparseable", HONEST_REPAIRED
    ),
    case("cut off after the last part", ONE, WHOLE[:-1], THREE_REPAIRED, LIES_REPAIRED),
    case("a list cut off in its second", TWO, UNFINISHED, THREE_REPAIRED, LIES_COERCED, "unparseable"),
    case("one of them alone and bare", ALONE, '{"bid": 3, "thought": "now"}', THREE_COERCED),
    case("one of them alone in prose", ALONE, "I bid 3.", THREE_COERCED),
    case("several in prose", SPOKEN, "I trust Bram. Label: deceptive.", "unparseable", "unparseable"),
    case("no text", ONE, "", "unparseable", "unparseable"),
    case("a complaint", ONE, '{"error": {"message": "overloaded", "bid": 3}}', "unparseable", "unparseable"),
    case("a refusal", ONE, "I'm sorry, but I can't help with that.", "refused", "refused"),
    case("a refusal of a player's wish", ONE, "I'm sorry, I can't say.", "unparseable", "unparseable"),
    case("too many objects", ONE, B * 20, "ambiguous", "ambiguous"),
    case(
        "words of another in a statement",
        {**SPOKEN, "bid": BID},
        f'{{"speech": {{"text": "{{\\"bid\\": 9}}"}}, "label": {H}}}',
        (Speech(text='{"bid": 9}'), "clean"),
        HONEST_CLEAN,
        "unparseable",
    ),
    case("far too long", ONE, "x" * 1_000_001, "unparseable", "unparseable"),
]


@pytest.mark.parametrize("each", CASES, ids=lambda each: each.name)
def test_several_answers_in_one_reply_are_read_each_for_itself(each: Case) -> None:
    got = read_parts(each.text, each.wanted)

    assert list(got) == list(each.wanted)
    for (name, part), expected in zip(got.items(), each.expected, strict=True):
        if isinstance(expected, str):
            assert (part.content, part.fault) == (None, expected), (name, part)
            assert part.note, name
        else:
            assert (part.content, part.reading) == expected, (name, part)
            assert part.note is None, name


def test_there_are_many_ugly_replies() -> None:
    assert len(CASES) >= 60
    assert len({each.name for each in CASES}) == len(CASES)


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


def test_each_part_has_its_own_thought_and_one_beside_them_goes_to_the_first() -> None:
    own = read_parts(f'{{"bid": {{"thought": "now", "bid": 3}}, "judgement_12": {{"thought": "hm", {MEMBERS}}}}}', ONE)
    assert [part.thought for part in own.values()] == ["now", "hm"]

    beside = read_parts(f'<think>first</think>{{"thought": "all", "bid": 3, "judgement_12": {L}}}', ONE)
    assert [part.thought for part in beside.values()] == ["first\n\nall", None]

    listed = read_parts(f'[{{"judgement_12": {{"thought": "hm", {MEMBERS}}}}}, {{"bid": {B}}}]', ONE)
    assert [part.thought for part in listed.values()] == [None, "hm"]

    bare = read_parts('{"thought": "once", "statement": "Bram dodged.", "deceptive": false, "confidence": 1}', SPOKEN)
    assert [part.thought for part in bare.values()] == ["once", None]


def test_wanting_nothing_gives_nothing() -> None:
    assert read_parts("{}", {}) == {}


PART = {"bid": "bid", "speak": "speech", "assess_own": "label", "assess_other": "judgement_12"}


@given(st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.just(kind), CONTENTS[kind])))
@settings(max_examples=200)
def test_a_part_reads_as_its_object_would_alone(asked: tuple[Kind, Content]) -> None:
    kind, content = asked
    alone = content.model_dump_json()
    name = PART.get(kind, kind)

    assert read_parts(f'{{"{name}": {alone}}}', {name: Question(kind)}) == {name: read(kind, alone)}


def _objects() -> list[tuple[Kind, Any]]:
    found = []
    for ugly in CORPUS:
        try:
            value = json.loads(ugly.text)
            json.dumps(value, allow_nan=False)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append((ugly.kind, value))
    return found


@pytest.mark.parametrize(("kind", "value"), _objects())
def test_an_ugly_object_reads_the_same_as_a_part(kind: Kind, value: dict[str, Any]) -> None:
    text = json.dumps(value)
    alone = read(kind, text, legal=VOTABLE, names=NAMES)
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
@settings(max_examples=400)
def test_no_text_makes_reading_parts_raise(text: str, wanted: Mapping[str, Question]) -> None:
    got = read_parts(text, wanted)

    assert list(got) == list(wanted)
    for part in got.values():
        assert (part.content is None) == (part.fault is not None) == (part.note is not None)
        (part.thought or "").encode()


@given(st.sampled_from([(WHOLE, ONE), (SAYS, SPOKEN)]), st.data())
def test_a_cut_anywhere_brings_in_no_value_that_was_not_there(
    reply: tuple[str, Mapping[str, Question]], data: st.DataObject
) -> None:
    text, wanted = reply
    whole = read_parts(text, wanted)
    cut = read_parts(text[: data.draw(st.integers(0, len(text)))], wanted)

    for name, part in cut.items():
        if part.content is not None:
            kept = (
                part.content.model_copy(update={"kind": "omission"})
                if isinstance(part.content, Judgement)
                else part.content
            )
            assert kept == whole[name].content
