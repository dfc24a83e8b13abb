"""The sentences scripted players say, and what hearers read in them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.scripted.cues import read
from players.scripted.phrasing import words
from tests.llm.tables import tables

TABLES = tables(__file__)

SENTENCES, EVIDENCE, VOTE_REASONS = words().sentences, words().evidence, words().vote_reasons
NAMES = ("Ada", "Bruno", "Chloe", "Dario")


def said(wording: str, evidence: str = "") -> str:
    """Fill a wording in: about Ada, with Bruno in it, and Chloe dead."""
    clause = evidence.format(t="Ada", o="Bruno")
    return wording.format(t="Ada", o="Bruno", d="Chloe", e=clause)


def all_evidence() -> list[str]:
    return [wording for wordings in EVIDENCE.values() for wording in wordings]


def test_ordinary_talk_claims_no_role_and_accuses_nobody():
    for intent in (
        "first day",
        "death",
        "quiet night",
        "hedge",
        "ask",
        "ask vote",
        "defend self",
        "defend other",
        "hint trust",
    ):
        for wording in SENTENCES[intent]:
            cues = read(said(wording), NAMES)
            assert cues.claimed is None, wording
            assert cues.results == (), wording
            assert cues.accused == (), wording


@pytest.mark.parametrize(
    ("text", "accused", "doubted", "trusted"),
    TABLES["sentences_of_other_players_are_read_sensibly"],
)
def test_sentences_of_other_players_are_read_sensibly(
    text: str, accused: list[str], doubted: list[str], trusted: list[str]
):
    cues = read(text, NAMES)
    assert [list(each) for each in (cues.accused, cues.doubted, cues.trusted)] == [accused, doubted, trusted]


@given(
    st.lists(
        st.one_of(
            st.text(max_size=30), st.sampled_from([*NAMES, "I am the Seer", "vote for", "\ue000", "wolf", "I saw"])
        )
    ),
    st.sampled_from([NAMES, (), ("I",), ("a*b(c", "Ann", "Ann Marie", "{t}")]),
)
@settings(max_examples=60, deadline=None)
def test_any_text_can_be_read(parts: list[str], names: tuple[str, ...]):
    cues = read(" ".join(parts), names)
    for found in (cues.named, cues.accused, cues.doubted, cues.trusted):
        assert set(found) <= set(names)
        assert len(set(found)) == len(found)
