import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from wolfbus.game.config import NOBODY_WORDS
from wolfbus.game.vocabulary import DECEPTIONS, KINDS, ROLES, Kind
from wolfbus.messages.content import (
    CONTENT,
    AccusationClaim,
    Ballot,
    Bid,
    Choice,
    Content,
    InspectionClaim,
    Judgement,
    Label,
    Proposal,
    ProtectionClaim,
    RoleClaim,
    Speech,
)
from wolfbus.reading import Question, normalise, read, read_fields

words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60)
names = st.text(st.characters(categories=["L", "N", "So"]), min_size=1, max_size=32).filter(
    lambda name: not any(word in name.casefold() for word in ("abstain", *NOBODY_WORDS))
)
units = st.floats(0, 1)
kinds_of_deception = st.sampled_from(DECEPTIONS)
rounds = st.none() | st.integers(1, 100)
claims = st.lists(
    st.builds(RoleClaim, target=names, role=st.sampled_from(ROLES))
    | st.builds(InspectionClaim, target=names, role=st.sampled_from(ROLES), round=rounds)
    | st.builds(ProtectionClaim, target=names, round=rounds)
    | st.builds(AccusationClaim, target=names),
    max_size=3,
).map(tuple)
targets = st.none() | names
choices = st.builds(Choice, target=targets)
labels = st.builds(Label, deceptive=st.booleans(), confidence=units, kind=kinds_of_deception, reasoning=words)
judgements = st.builds(
    Judgement, deceptive=st.booleans(), suspicion=units, confidence=units, kind=kinds_of_deception, reasoning=words
)
CONTENTS: dict[Kind, st.SearchStrategy[Any]] = {
    "bid": st.builds(Bid, bid=st.integers(0, 10)),
    "speak": st.builds(Speech, text=words, claims=claims),
    "assess_own": labels.map(normalise),
    "assess_other": judgements.map(normalise),
    "vote": st.builds(Ballot, target=targets, reason=st.none() | words, claims=claims),
    "kill": choices,
    "protect": choices,
    "inspect": choices,
    "whisper": st.builds(Proposal, target=targets, word=words),
}
answers = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(st.just(kind), CONTENTS[kind]))
layouts = st.sampled_from(
    [{}, {"indent": 2}, {"ensure_ascii": False}, {"ensure_ascii": False, "indent": 4}, {"separators": (",", ":")}]
)
scraps = st.sampled_from(
    [*"{}[]:,'\"“\\ \n\x00\ud800", '{"', '"}', "//", "/*", "```json", "```", "<think>", "</think>"]
)
crumbs = st.sampled_from(
    ['"bid"', '"target"', '"deceptive":true', '"confidence"', "0.5", "7", "9" * 30, "NaN", "null", "Bram"]
)
anything = st.text(st.characters()) | st.lists(
    scraps | crumbs | st.text(st.characters(exclude_categories=[]), max_size=5), max_size=40
).map("".join)


@given(st.sampled_from(KINDS), anything)
@settings(max_examples=150)
def test_no_text_makes_reading_raise_and_what_it_returns_can_be_written(kind: Kind, text: str) -> None:
    got = read(text, Question(kind, legal=["Ana", "Bram", None], names=["Ana", "Bram", "Chioma"]))

    assert (got.content is None) == (got.fault is not None)
    assert (got.content is None) == (got.reading is None)
    if got.content is not None:
        assert isinstance(got.content, CONTENT[kind])
        got.content.model_dump_json().encode()
    (got.thought or "").encode()
    (got.note or "").encode()


@given(answers, layouts)
@settings(max_examples=100)
def test_the_json_of_any_content_is_read_clean_and_equal(answer: tuple[Kind, Content], layout: dict[str, Any]) -> None:
    kind, content = answer

    got = read(json.dumps(content.model_dump(), **layout), Question(kind))

    assert (got.content, got.reading) == (content, "clean"), got.note


@given(answers)
def test_a_fence_and_prose_around_make_it_extracted_and_equal(answer: tuple[Kind, Content]) -> None:
    kind, content = answer

    got = read(f"Here you are:\n\n```json\n{content.model_dump_json(indent=2)}\n```\nAnything else?", Question(kind))

    assert (got.content, got.reading) == (content, "extracted"), got.note


@given(answers, layouts, st.data())
@settings(max_examples=150)
def test_a_cut_anywhere_brings_in_no_value_that_was_not_there(answer, layout, data):
    kind, content = answer
    text = json.dumps(content.model_dump(), **layout)
    cut = data.draw(st.integers(0, len(text) - 1))

    got = read(text[:cut], Question(kind))
    fields = read_fields(text[:cut], Question(kind))

    if got.content is not None:
        assert got.reading == "repaired"
        assert dict(got.content) == {**dict(got.content), **dict(fields.values)}
    whole = dict(content)
    for name, value in (dict(got.content) if got.content is not None else dict(fields.values)).items():
        assert value == whole[name] or value in _left_out(name, whole), (name, text[:cut])


def _left_out(name: str, whole: dict[str, Any]) -> list[Any]:
    """What may stand for a field that was cut off; of a reasoning its beginning may stay."""
    if name == "reasoning":
        return [whole[name][:length] for length in range(len(whole[name]))]
    if name == "kind":
        return ["unspecified" if whole["deceptive"] else "none"]
    nothing: dict[str, Any] = {"stated_kind": None, "reason": None, "word": "", "claims": ()}
    return [nothing[name]] if name in nothing else []


@given(
    st.builds(
        Label,
        deceptive=st.booleans(),
        confidence=units,
        kind=kinds_of_deception,
        stated_kind=st.none() | kinds_of_deception,
    )
)
def test_a_normalised_label_never_contradicts_its_flag(label: Label) -> None:
    settled = normalise(label)

    assert settled.deceptive == label.deceptive
    assert settled.deceptive == (settled.kind != "none")
    assert normalise(settled) == settled
