"""The sentences scripted players say, and what hearers read in them."""

from __future__ import annotations

import statistics
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from players.scripted.cues import LONGEST, read
from players.scripted.phrasing import words
from tests.players.table import CONFIGS, play

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


def test_nobody_else_is_accused_by_the_way():
    for text in ACCUSING + VOTING:
        assert read(text, NAMES).accused == ("Ada",), text


def test_a_doubt_falls_on_the_one_it_is_about():
    for wording, evidence in product(SENTENCES["doubt"], all_evidence()):
        cues = read(said(wording, evidence), NAMES)
        assert (*cues.doubted, *cues.accused) == ("Ada",), said(wording, evidence)


@pytest.mark.parametrize("intent", ["reveal wolf", "report wolf", "counterclaim"])
def test_reports_of_a_wolf_are_read_as_such(intent: str):
    for wording in SENTENCES[intent]:
        cues = read(said(wording), NAMES)
        assert cues.results == (("Ada", True),), wording
        assert cues.claimed == "Seer", wording
        assert cues.accused == ("Ada",), wording


@pytest.mark.parametrize("intent", ["reveal clear", "report clear"])
def test_reports_of_an_innocent_are_read_as_such(intent: str):
    for wording in SENTENCES[intent]:
        cues = read(said(wording), NAMES)
        assert cues.results == (("Ada", False),), wording
        assert cues.claimed == "Seer", wording
        assert cues.accused == (), wording


@pytest.mark.parametrize(
    ("intent", "role"),
    [
        ("expose", "Seer"),
        ("repeat seer", "Seer"),
        ("doctor claim", "Doctor"),
        ("doctor claim saved", "Doctor"),
        ("defend self as villager", "Villager"),
    ],
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


def test_words_of_trust_are_read_as_such():
    for intent in ("defend other", "hint trust"):
        for wording in SENTENCES[intent]:
            assert "Ada" in read(said(wording), NAMES).trusted, wording


def test_tones_are_heard():
    assert sum(bool(read(wording, NAMES).hedges) for wording in SENTENCES["hedge"]) >= 8
    assert all(read(said(wording, all_evidence()[0]), NAMES).absolutes for wording in SENTENCES["accuse boldly"])
    assert all(read(said(wording, all_evidence()[0]), NAMES).deflects for wording in SENTENCES["deflect"])
    assert sum(read(said(wording), NAMES).pleads for wording in SENTENCES["defend self"]) >= 5


@pytest.mark.parametrize(
    ("text", "accused", "doubted", "trusted"),
    [
        ("I don\u2019t trust Ada.", (), ("Ada",), ()),
        ("Ada isn't a werewolf, I'd bet on it.", (), (), ("Ada",)),
        ("The wolves killed Chloe because she was close.", (), (), ()),
        ("Bruno, why did you vote for Ada?", (), (), ()),
        ("If Ada is a werewolf, then so is Dario.", (), (), ()),
        ("Ada must be the wolf!", ("Ada",), (), ()),
        ("I'm voting for Bruno because Ada convinced me.", ("Bruno",), (), ()),
        ("I have a bad feeling, but I suspect Dario.", (), ("Dario",), ()),
        ("Adam and Brunos are other words.", (), (), ()),
    ],
)
def test_sentences_of_other_players_are_read_sensibly(
    text: str, accused: tuple[str, ...], doubted: tuple[str, ...], trusted: tuple[str, ...]
):
    cues = read(text, NAMES)
    assert (cues.accused, cues.doubted, cues.trusted) == (accused, doubted, trusted)


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


@pytest.mark.parametrize(
    "piece", ["I saw ", "vote out ", "Ada ", "not ", "Ada voting to ", "a, and ", "the the the wolf "]
)
def test_long_text_is_read_in_bounded_time(piece: str):
    whole = (piece * LONGEST)[:LONGEST]
    assert read(piece * 20_000, NAMES) == read(whole, NAMES)


def test_a_longer_name_is_not_taken_for_a_shorter_one():
    assert read("I suspect Ann Marie.", ("Ann", "Ann Marie")).doubted == ("Ann Marie",)


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


def test_what_is_claimed_beside_a_statement_is_what_its_words_say():
    claims = 0
    for seed in range(12):
        played = play(f"claims {seed}", CONFIGS["paper"])
        texts = {event.statement: event for event in played.events if event.type == "statement"}
        for event in played.events:
            if event.type != "claim_truth":
                continue
            statement = texts[event.statement]
            cues = read(statement.text, tuple(played.views))
            for scored in event.claims:
                claim = scored.claim
                claims += 1
                if claim.claim == "role":
                    assert (claim.target, claim.role) == (statement.speaker, cues.claimed), statement.text
                elif claim.claim == "inspection":
                    assert (claim.target, claim.role == "Werewolf") in cues.results, statement.text
                elif claim.claim == "accusation":
                    assert claim.target in cues.accused, statement.text
                else:
                    assert claim.target in cues.named, statement.text
    assert claims > 100


def test_a_name_is_heard_in_emphasis_and_never_within_another_word():
    assert read("I think _Ada_ is a Werewolf.", NAMES).named == ("Ada",)
    assert read("Adam is a Werewolf.", NAMES).named == ()
    assert read("\ue000 is a Werewolf.", NAMES).named == ()
