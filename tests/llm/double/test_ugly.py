"""Each way of being ugly is what its name says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.llm.double.parts import LEGAL, LIVING, TEMPLATES, said_to
from wolfbus.errors import ConfigError
from wolfbus.reading import Question, Read, read
from wolfbus.testing.model_behaviour import ERRORS, UGLY, UglySort, behaviour_of, drawn_sort, parse_shares
from wolfbus.testing.model_reply import HUGE, ModelReply
from wolfbus.vocabulary import Kind

SAMPLE = 30


def replies(sort: UglySort, kind: Kind) -> list[ModelReply]:
    return [said_to(kind, number, ugly={sort: 1.0}).reply for number in range(SAMPLE)]


def readings(sort: UglySort, kind: Kind) -> list[Read]:
    return [read(reply.text or "", Question(kind, legal=LEGAL, names=LIVING)) for reply in replies(sort, kind)]


def rungs(sort: UglySort, kind: Kind) -> Counter[str | None]:
    return Counter(got.reading or got.fault for got in readings(sort, kind))


@pytest.mark.parametrize("sort", UGLY)
def test_every_sort_is_told_and_spoils_what_it_should(sort: UglySort) -> None:
    kind: Kind = "assess_other" if sort == "words" else "vote"
    for number, reply in enumerate(replies(sort, kind)):
        assert reply.ugly == sort
        good = said_to(kind, number).reply
        assert (reply.text, reply.reasoning) != (good.text, good.reasoning)


@pytest.mark.parametrize(
    ("sort", "kind", "expected"),
    [
        ("fence", "bid", {"extracted"}),
        ("prose", "bid", {"extracted"}),
        ("comma", "bid", {"repaired"}),
        ("quotes", "assess_own", {"repaired"}),
        ("two", "bid", {"ambiguous"}),
        ("wrapper", "bid", {"extracted"}),
        ("words", "bid", {"coerced"}),
        ("think", "bid", {"extracted"}),
        ("reasoning", "bid", {"clean"}),
        ("empty", "bid", {"unparseable"}),
        ("html", "bid", {"unparseable"}),
        ("apology", "bid", {"refused"}),
        ("illegal", "vote", {"illegal", "clean"}),
        ("illegal", "bid", {"illegal"}),
    ],
)
def test_the_reading_ladder_sees_each_sort_as_what_it_is(sort: UglySort, kind: Kind, expected: set[str]) -> None:
    seen = rungs(sort, kind)
    assert set(seen) <= expected
    # abstentions hold no name to spoil
    assert seen["clean"] < SAMPLE / 3 or expected == {"clean"}


def test_wrong_keys_are_known_or_not() -> None:
    seen = rungs("keys", "bid")
    assert set(seen) == {"coerced", "unparseable"}


def test_a_cut_reply_is_the_beginning_of_a_good_one_and_says_so() -> None:
    for number, reply in enumerate(replies("cut", "speak")):
        good = said_to("speak", number).reply.text
        assert reply.finish == "length"
        assert good is not None
        assert reply.text is not None
        assert good.startswith(reply.text)
        assert len(reply.text) < len(good)


def test_a_huge_reply_is_huge_and_held_to_no_limit() -> None:
    assert all(len(reply.text or "") >= HUGE for reply in replies("huge", "bid"))
    body_limit = said_to("bid", ugly={"huge": 1.0})
    assert body_limit.reply.finish == "stop"
    assert set(rungs("huge", "bid")) == {"clean", "extracted"}


def test_a_refusal_stands_in_its_own_field() -> None:
    assert all(reply.text is None and reply.refusal for reply in replies("refusal", "speak"))


def test_reasoning_stands_in_its_own_field_beside_a_good_reply() -> None:
    for number, reply in enumerate(replies("reasoning", "speak")):
        assert reply.reasoning
        assert reply.text == said_to("speak", number).reply.text


def test_a_reply_with_no_place_for_a_named_sort_stays_good() -> None:
    spoken = said_to("speak", ugly={"words": 1.0})
    assert spoken.reply.ugly is None
    assert spoken.reply.text == said_to("speak").reply.text


def test_a_mix_holds_every_sort_and_keeps_to_its_share() -> None:
    seen: Counter[str | None] = Counter()
    kinds: list[Kind] = list(TEMPLATES)
    for number in range(1200):
        seen[said_to(kinds[number % len(kinds)], number, ugly=0.5).reply.ugly] += 1
    assert set(seen) == {None, *UGLY}
    assert 500 < seen[None] < 700


def test_ugliness_is_drawn_by_request_and_is_the_same_for_the_same_one() -> None:
    def sorts() -> list[UglySort | None]:
        return [said_to("bid", number, ugly=0.5, seed=5).reply.ugly for number in range(40)]

    assert sorts() == sorts()


def test_shares_are_read_as_people_type_them() -> None:
    assert parse_shares("0.05", ERRORS) == 0.05
    assert parse_shares("429=0.2, 500=0.1", ERRORS) == {"429": 0.2, "500": 0.1}


@pytest.mark.parametrize(("text", "why"), [
    ("much", "neither a share"), ("2", "no share"), ("418=0.1", "none of 429"), ("429=x", "neither"),
    ("nan", "no share"),
])  # fmt: skip
def test_shares_that_make_no_sense_are_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_shares(text, ERRORS)


@pytest.mark.parametrize(("traits", "why"), [
    ({"ugly": 1.5}, "ugly: "), ({"errors": {"429": 0.7, "500": 0.7}}, "errors: shares add up to more than 1"),
    ({"latency": -1}, "latency: "), ({"colour": "red"}, "colour: "), ({"ugly": {"pretty": 0.5}}, "ugly: "),
])  # fmt: skip
def test_traits_that_make_no_sense_are_refused_in_a_line(traits: Any, why: str) -> None:
    with pytest.raises(ConfigError, match=f"^fake model: {why}") as caught:
        behaviour_of(traits)
    assert "\n" not in str(caught.value)


def test_a_sort_is_drawn_by_its_share() -> None:
    assert drawn_sort(0.0, ("a", "b"), 0.0) is None
    assert [drawn_sort(0.5, ("a", "b"), point) for point in (0.0, 0.24, 0.26, 0.49, 0.5)] == ["a", "a", "b", "b", None]
    assert [drawn_sort({"b": 0.25}, ("a", "b"), point) for point in (0.0, 0.24, 0.25)] == ["b", "b", None]
