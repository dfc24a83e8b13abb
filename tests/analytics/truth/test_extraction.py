"""Claims are found in words, and only where they are made."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.claims import claims_in, same_claim
from tests.analytics.truth.corpus import CLAIMS, NAMES, NOTHING, SPEAKER
from wolfbus.messages.content import InspectionClaim, RoleClaim


@pytest.mark.parametrize(("text", "expected"), CLAIMS, ids=[text for text, _ in CLAIMS])
def test_a_claim_is_found(text, expected):
    assert claims_in(text, SPEAKER, NAMES) == expected


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_claim_gives_none(text):
    assert claims_in(text, SPEAKER, NAMES) == ()


def test_a_claim_that_is_repeated_counts_once():
    assert claims_in("I am the Seer. Yes, I am the Seer!", SPEAKER, NAMES) == (RoleClaim(target="Ana", role="Seer"),)


def test_claims_about_people_who_do_not_play_are_none():
    assert claims_in("Raj is the Seer. I am the Doctor.", "Ana", ["Ana", "Bea"]) == (
        RoleClaim(target="Ana", role="Doctor"),
    )


def test_names_may_hold_anything():
    names = ("I", "a*b(c", "{t}", "100%", "Ünal", "as the Seer", "Mary Ann", "Mary")
    assert claims_in("Mary Ann is the Seer.", "Ünal", names) == (RoleClaim(target="Mary Ann", role="Seer"),)
    assert claims_in("100% is the Seer.", "Ünal", names) == (RoleClaim(target="100%", role="Seer"),)
    assert claims_in("a*b(c is the Doctor.", "Ünal", names) == (RoleClaim(target="a*b(c", role="Doctor"),)
    assert claims_in("I am the Seer.", "Ünal", names[1:]) == (RoleClaim(target="Ünal", role="Seer"),)


def test_a_night_that_is_named_only_once_makes_no_other_claim():
    seen = InspectionClaim(target="Raj", role="Werewolf")
    second = InspectionClaim(target="Raj", role="Werewolf", round=2)
    assert same_claim(seen, second)
    assert not same_claim(second, InspectionClaim(target="Raj", role="Werewolf", round=3))
    assert not same_claim(seen, InspectionClaim(target="Raj", role="Villager"))
    assert not same_claim(seen, RoleClaim(target="Raj", role="Werewolf"))


WORDS = st.sampled_from(
    [
        *(
            "I",
            "am",
            "I'm",
            "the",
            "a",
            "Seer",
            "Doctor",
            "Villager",
            "Werewolf",
            "is",
            "was",
            "Raj",
            "Old",
            "Joe",
            "not",
        ),
        *(
            "checked",
            "inspected",
            "and",
            "he",
            ",",
            ".",
            "?",
            "!",
            ":",
            '"',
            "'",
            "\u201c",
            "\u2019",
            "\u2014",
            "-",
            "if",
        ),
        *(
            "As",
            "my",
            "inspection",
            "of",
            "last",
            "night",
            "2",
            "says",
            "*",
            "_",
            "\n",
            "\ue000",
            "\ufffc",
            "\x00",
            "(",
            ")",
        ),
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200), st.lists(WORDS, max_size=60).map(" ".join), st.lists(WORDS, max_size=60).map("".join)
    )
)
def test_any_text_is_read_and_claims_are_about_players(text):
    found = claims_in(text, SPEAKER, NAMES)
    assert all(claim.target in NAMES for claim in found)
    assert all(claim.target != SPEAKER for claim in found if isinstance(claim, InspectionClaim))
    assert len(set(found)) == len(found)
    assert found == claims_in(text, SPEAKER, NAMES)


OPENINGS = (
    "Is it so that ",
    "Raj says: ",
    "If ",
    "Maybe it is a lie that ",
    "Suppose ",
    "Imagine that ",
    "According to Bea, ",
)


@pytest.mark.parametrize("opening", OPENINGS)
def test_hearsay_and_hypotheses_before_a_sentence_take_its_claims_away(opening):
    closing = "?" if opening.startswith("Is") else "."
    for text, _ in CLAIMS:
        # what stands in a sentence of its own, apart or behind "but", is no longer under the opening
        apart = {", I", " but ", " because ", '"', " - "}
        alone = sum(text.count(mark) for mark in ".!?;\u2014:\n") <= 1
        if alone and not any(piece in text for piece in apart):
            assert claims_in(opening + text.rstrip(".!") + closing, SPEAKER, NAMES) == (), text


HOSTILE = (
    "I am the Seer, ",
    "I am the Seer. ",
    "i ",
    "Raj is ",
    "seer'",
    "seer'a",
    "I checked Raj ",
    "I checked Raj. ",
    "seer,",
    "seer_ ",
    "I must tell you that ",
    "seer \ue000",
    "if I am the Seer ",
    "the Seer is ",
    "Raj is the Seer and ",
    "Old ",
    "\u0130",
    "I used my power on ",
    "As the Seer, ",
    "my inspection of Raj showed ",
    "... ",
    "seer - ",
    "Raj is a wolf: I checked ",
    "\u2019\u2018seer",
    '"seer ',
    "I know that we know that ",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_sixty_kilobytes_of_anything_take_no_time(piece):
    text = ("seer " + piece * (60_000 // len(piece) + 1))[:60_000]
    spent = []
    for _ in range(5):
        began = time.process_time()
        claims_in(text, SPEAKER, NAMES)
        spent.append(time.process_time() - began)
        if spent[-1] < 0.05:
            break
    assert min(spent) < 0.05
