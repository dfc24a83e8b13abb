"""Claims are found in the words of all styles, and hardly any where there are none."""

from __future__ import annotations

import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.claims import claims_in
from tests.claims.corpus import SPLITS, Split
from tests.claims.scores import Scores, score
from wolfbus.messages.content import AccusationClaim, Claim, InspectionClaim, ProtectionClaim, RoleClaim

SPEAKER = "Ana"
NAMES = ("Ana", "Raj", "Bea", "Tom", "Mia", "Old Joe")
SENTENCES = tomllib.loads(Path(__file__).with_name("sentences.toml").read_text("utf-8"))


def claim_of(row: dict[str, Any]) -> Claim:
    if "accuses" in row:
        return AccusationClaim(target=row["accuses"])
    if "protected" in row:
        return ProtectionClaim(target=row["protected"], round=row.get("round"))
    if "is" in row:
        return RoleClaim(target=row["is"], role=row["role"])
    return InspectionClaim(target=row["saw"], role=row["role"], round=row.get("round"))


def claimed(name: str) -> tuple[tuple[str, tuple[Claim, ...]], ...]:
    return tuple((text, tuple(map(claim_of, claims))) for text, claims in SENTENCES[name].items())


CLAIMS, ROWS = claimed("claims"), claimed("rows")
OPENINGS, HOSTILE, PIECES = (tuple(SENTENCES[name]) for name in ("openings", "hostile", "words"))
NOTHING: tuple[str, ...] = ("", *(text for texts in SENTENCES["nothing"].values() for text in texts.splitlines()))

FOUND = {
    "dev": Scores(right=186, wrong=0, missed=4, nights=23, right_nights=23),
    "held_out": Scores(right=158, wrong=3, missed=25, nights=19, right_nights=16),
}
"""What issue 12 was closed with. Whoever finds more writes it down here, so that it is not lost again."""


@pytest.mark.parametrize("split", SPLITS)
def test_claims_of_the_corpus_are_found_as_well_as_they_were(split: Split) -> None:
    assert score(split) == FOUND[split]


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
        apart = {", I", " but ", " because ", '"', " - "}
        alone = sum(text.count(mark) for mark in ".!?;\u2014:\n") <= 1
        if alone and not any(piece in text for piece in apart):
            assert claims_in(opening + text.rstrip(".!") + closing, SPEAKER, NAMES) == (), text


@pytest.mark.parametrize("piece", HOSTILE)
def test_sixty_kilobytes_of_anything_take_no_time(piece):
    spent = []
    for attempt in range(5):
        # what was read once is remembered
        text = (f"seer {attempt} " + piece * (60_000 // len(piece) + 1))[:60_000]
        began = time.process_time()
        claims_in(text, SPEAKER, NAMES)
        spent.append(time.process_time() - began)
        if spent[-1] < 0.2:
            break
    # 0.02 to 0.05 s; a search that is quadratic in the words takes a second
    assert min(spent) < 0.2
