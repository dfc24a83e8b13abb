"""Each way of being ugly is what its name says."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.llm.double.parts import LEGAL, LIVING, TEMPLATES, said_to
from wolfbus.errors import ConfigError
from wolfbus.reading import Question, Read, read
from wolfbus.testing.model_behaviour import ERRORS, UGLY, UglySort, behaviour_of, parse_shares
from wolfbus.testing.model_reply import ModelReply
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


def test_a_mix_holds_every_sort_and_keeps_to_its_share() -> None:
    seen: Counter[str | None] = Counter()
    kinds: list[Kind] = list(TEMPLATES)
    for number in range(1200):
        seen[said_to(kinds[number % len(kinds)], number, ugly=0.5).reply.ugly] += 1
    assert set(seen) == {None, *UGLY}
    assert 500 < seen[None] < 700


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
