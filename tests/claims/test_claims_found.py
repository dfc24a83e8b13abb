"""Claims are found in words of many ways of talking, and hardly any where there are none."""

import time
import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.claims.scores import right_and_wrong
from wolfbus.claims.hearing import claims_in
from wolfbus.claims.pieces import pieces_of
from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim, StanceClaim

SPEAKER = "Ana"
NAMES = ("Ana", "Raj", "Bea", "Tom", "Mia", "Old Joe")
SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))


def claim_of(row: dict[str, Any]) -> Claim:
    strength, denied = row.get("strength", "plain"), row.get("denied", False)
    for side in ("for", "against"):
        if side in row:
            return StanceClaim(target=row[side], side=side, strength=strength)
    if "accuses" in row:
        return AccusationClaim(target=row["accuses"], strength=strength)
    if "protected" in row:
        return ProtectionClaim(target=row["protected"], round=row.get("round"))
    if "is" in row:
        return RoleClaim(target=row["is"], role=row["role"], denied=denied)
    return InspectionClaim(target=row["saw"], role=row["role"], round=row.get("round"), denied=denied)


def claimed(name: str) -> tuple[tuple[str, tuple[Claim, ...]], ...]:
    return tuple((text, tuple(map(claim_of, claims))) for text, claims in SENTENCES[name].items())


CLAIMS, ROWS = claimed("claims"), claimed("rows")
OPENINGS, HOSTILE, PIECES = (tuple(SENTENCES[name]) for name in ("openings", "hostile", "words"))
NOTHING: tuple[str, ...] = ("", *(text for texts in SENTENCES["nothing"].values() for text in texts.splitlines()))


def test_of_what_is_found_in_the_corpus_hardly_anything_is_not_there() -> None:
    right, wrong = right_and_wrong()
    assert wrong < 0.03 * right


@pytest.mark.parametrize(("text", "expected"), CLAIMS + ROWS)
def test_a_claim_is_found(text, expected):
    assert claims_in(text, SPEAKER, NAMES) == expected


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_no_claim_gives_none(text):
    assert claims_in(text, SPEAKER, NAMES) == ()


def test_names_may_hold_anything():
    names = ("I", "a*b(c", "{t}", "100%", "Ünal", "as the Seer", "Mary Ann", "Mary")
    assert claims_in("Mary Ann is the Seer.", "Ünal", names) == (RoleClaim(target="Mary Ann", role="Seer"),)
    assert claims_in("100% is the Seer.", "Ünal", names) == (RoleClaim(target="100%", role="Seer"),)
    assert claims_in("a*b(c is the Doctor.", "Ünal", names) == (RoleClaim(target="a*b(c", role="Doctor"),)
    assert claims_in("I am the Seer.", "Ünal", names[1:]) == (RoleClaim(target="Ünal", role="Seer"),)


@pytest.mark.parametrize("text", ["Ann's a Seer.", "ANN is the Seer", "ann: the Seer", "Bo-Ann is the Seer"])
def test_names_of_one_word_are_found_as_they_are_beside_names_of_several(text):
    assert claims_in(text, "Bo", ("Ann", "Bo")) == claims_in(text, "Bo", ("Ann", "Bo", "Mary Ann"))


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(max_size=200),
        st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join),
        st.lists(st.sampled_from(PIECES), max_size=60).map("".join),
    )
)
def test_any_text_is_read_and_claims_are_about_players(text):
    claims = claims_in(text, SPEAKER, NAMES)
    assert all(claim.target in NAMES for claim in claims)
    assert all(claim.target != SPEAKER for claim in claims if isinstance(claim, InspectionClaim))
    assert len(set(claims)) == len(claims)
    assert claims == claims_in(text, SPEAKER, NAMES)


@pytest.mark.parametrize("opening", OPENINGS)
def test_hearsay_and_hypotheses_before_a_sentence_take_its_claims_away(opening):
    closing = "?" if opening.startswith("Is") else "."
    for text, _ in CLAIMS:
        # what stands in a sentence of its own, apart or behind "but", is no longer under the opening
        apart = {"?", ", I", " but ", " because ", '"', " - "}
        alone = sum(text.count(mark) for mark in ".!?;\u2014:\n") <= 1
        if alone and not any(piece in text for piece in apart):
            assert claims_in(opening + text.rstrip(".!") + closing, SPEAKER, NAMES) == (), text


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_that_anything_takes_grows_with_its_length_and_no_faster(piece):
    def spent(letters: int) -> float:
        # what was read once is remembered
        texts = [(f"seer {attempt} " + piece * (letters // len(piece) + 1))[:letters] for attempt in range(3)]
        return min(cpu_of(partial(claims_in, text, SPEAKER, NAMES)) for text in texts)

    # four times the words take four times as long, and sixteen times if a search is quadratic in them
    assert spent(6_000) < 10 * max(spent(1_500), 0.001)


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_text_is_read_whole_and_never_more_of_it_at_once_than_that(piece):
    text = (piece * (60_000 // len(piece) + 1))[:60_000]
    pieces = list(pieces_of(text))
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 6_000


def test_what_a_long_statement_says_is_heard_to_its_end_sentence_by_sentence():
    ends = "I am the Seer. I checked Raj: he is a Werewolf."
    for filler in ("I know nothing of last night. ", "word ", "x" * 7_000, "é"):
        # wherever the edge of a piece would fall, if it fell blindly
        for letters in range(11_990, 12_003):
            text = (filler * (letters // len(filler) + 1))[:letters].rstrip(". ") + ". " + ends
            assert claims_in(text, SPEAKER, NAMES) == claims_in(ends, SPEAKER, NAMES), letters


def cpu_of(work: Callable[[], object]) -> float:
    """Return the seconds of CPU that it takes."""
    began = time.process_time()
    work()
    return time.process_time() - began
