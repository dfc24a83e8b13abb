"""The sentences scripted players say, and what hearers read in them."""

from __future__ import annotations

import statistics
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.scripted.cues import read
from players.scripted.phrasing import words
from tests.llm.tables import tables
from tests.players.table import CONFIGS, play

TABLES = tables(__file__)

SENTENCES, EVIDENCE, VOTE_REASONS = words().sentences, words().evidence, words().vote_reasons
NAMES = ("Ada", "Bruno", "Chloe", "Dario")


def said(wording: str, evidence: str = "") -> str:
    """Fill a wording in: about Ada, with Bruno in it, and Chloe dead."""
    clause = evidence.format(t="Ada", o="Bruno")
    return wording.format(t="Ada", o="Bruno", d="Chloe", e=clause)


def all_evidence() -> list[str]:
    return [wording for wordings in EVIDENCE.values() for wording in wordings]


ACCUSING = [
    said(wording, evidence)
    for intent in ("accuse", "accuse boldly", "agree")
    for wording, evidence in product(SENTENCES[intent], all_evidence())
] + [said(wording) for intent in ("back seer", "weigh seers", "repeat seer", "expose") for wording in SENTENCES[intent]]
VOTING = [
    said(wording, evidence)
    for ground in ("wolf", "believe seer", "evidence", "feeling", "join")
    for wording, evidence in product(VOTE_REASONS[ground], all_evidence())
]


def test_whoever_is_accused_in_a_sentence_is_read_as_accused():
    for text in ACCUSING + VOTING:
        assert "Ada" in read(text, NAMES).accused, text


@pytest.mark.parametrize("intent", ["reveal wolf", "report wolf", "counterclaim"])
def test_reports_of_a_wolf_are_read_as_such(intent: str):
    for wording in SENTENCES[intent]:
        cues = read(said(wording), NAMES)
        assert cues.results == (("Ada", True),), wording
        assert cues.claimed == "Seer", wording
        assert cues.accused == ("Ada",), wording


@pytest.mark.parametrize(
    ("intent", "role"),
    TABLES["claims_of_a_role_are_read_as_such"],
)
def test_claims_of_a_role_are_read_as_such(intent: str, role: str):
    for wording in SENTENCES[intent]:
        assert read(said(wording), NAMES).claimed == role, wording


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
@settings(max_examples=150, deadline=None)
def test_any_text_can_be_read(parts: list[str], names: tuple[str, ...]):
    cues = read(" ".join(parts), names)
    for found in (cues.named, cues.accused, cues.doubted, cues.trusted):
        assert set(found) <= set(names)
        assert len(set(found)) == len(found)


def test_statements_of_a_game_are_short_and_hardly_repeat():
    lengths: list[int] = []
    repeated = 0
    for seed in range(30):
        played = play(f"words {seed}", CONFIGS["paper"])
        texts = [event.text for event in played.events if event.type == "statement" and event.phase == "debate"]
        lengths += [len(text) for text in texts]
        skeletons = [read(text, played.views[played.opened.seats[0].name].names).skeleton for text in texts]
        repeated += len(skeletons) - len(set(skeletons))
    assert max(lengths) <= 200
    assert 60 <= statistics.mean(lengths) <= 120
    assert repeated <= len(lengths) // 40
