"""What a person types, as an answer or as a typo that is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from players.human.typed import Typo, answer_of
from tests.llm.tables import tables
from wolfbus.config import GameConfig
from wolfbus.messages.content import Ballot, Bid, Choice, Content, Judgement, Label, Proposal, Speech
from wolfbus.messages.requests import Ask
from wolfbus.reading import normalise
from wolfbus.view import SeatView
from wolfbus.vocabulary import DECEPTIONS, KINDS, Kind

TABLES = tables(__file__)

NAMES = ("Ana", "Bram", "Chioma", "Christa", "Dilara", "Ann Marie")
LEGAL = ("Bram", "Chioma", "Christa", "Ann Marie", None)


def ask_for(kind: Kind) -> Ask:
    legal = LEGAL if kind in {"vote", "kill", "protect", "inspect", "whisper"} else None
    return Ask(id="g/1/x/1", kind=kind, round=1, phase="debate", turn=1, about=1, legal=legal, deadline_s=60.0)


def read(kind: Kind, line: str, config: GameConfig | None = None) -> Content | Typo:
    return answer_of(line, ask_for(kind), SeatView(me="Ana", names=NAMES, config=config or GameConfig()))


def judged(deceptive: bool, suspicion: float, confidence: float, kind: str = "none", why: str = "") -> Judgement:
    kind = "unspecified" if deceptive and kind == "none" else kind
    return Judgement.model_validate(
        {"deceptive": deceptive, "suspicion": suspicion, "confidence": confidence, "kind": kind, "reasoning": why}
    )


def labelled(deceptive: bool, confidence: float, kind: str = "none", why: str = "") -> Label:
    return Label.model_validate({"deceptive": deceptive, "confidence": confidence, "kind": kind, "reasoning": why})


READ: list[tuple[Kind, str, Content]] = [
    ("bid", "7", Bid(bid=7)),
    ("bid", " 7/10 ", Bid(bid=7)),
    ("bid", "seven", Bid(bid=7)),
    ("speak", "  I saw it. ", Speech(text="I saw it.")),
    ("assess_other", "0.7", judged(True, 0.7, 0.7)),
    ("assess_other", "70%", judged(True, 0.7, 0.7)),
    ("assess_other", "0,2", judged(False, 0.2, 0.8)),
    ("assess_other", "h 0.2", judged(False, 0.2, 0.8)),
    ("assess_other", "0.2 H", judged(False, 0.2, 0.8)),
    ("assess_other", "d 0.5", judged(True, 0.5, 0.5)),
    ("assess_other", "d 0.8 fabrication because nobody saw it", judged(True, 0.8, 0.8, "fabrication", "nobody saw it")),
    ("assess_other", "deceptive, 0.8, 0.6, mis: he points", judged(True, 0.8, 0.6, "misdirection", "he points")),
    ("assess_other", "0.9 omission - left out Bram", judged(True, 0.9, 0.9, "omission", "left out Bram")),
    ("assess_other", "omission 0.5", judged(True, 0.5, 0.5, "omission")),
    ("assess_own", "h", labelled(False, 1.0)),
    ("assess_own", "honest 80%", labelled(False, 0.8)),
    ("assess_own", "d omission 0.9", labelled(True, 0.9, "omission")),
    ("assess_own", "d", labelled(True, 1.0, "unspecified")),
    ("assess_own", "distorted because I had to", labelled(True, 1.0, "distortion", "I had to")),
    ("vote", "Bram", Ballot(target="Bram")),
    ("vote", "bram", Ballot(target="Bram")),
    ("vote", "chi", Ballot(target="Chioma")),
    ("vote", "BRAM, because he hides.", Ballot(target="Bram", reason="he hides.")),
    ("vote", "chris: she lied about Bram", Ballot(target="Christa", reason="she lied about Bram")),
    ("vote", "ann marie she smiles", Ballot(target="Ann Marie", reason="she smiles")),
    ("vote", "I vote for Bram", Ballot(target="Bram", reason="I vote for Bram")),
    ("vote", "Bram's a liar", Ballot(target="Bram", reason="Bram's a liar")),
    ("vote", "nobody too early", Ballot(target=None, reason="too early")),
    ("vote", "abstain", Ballot(target=None)),
    ("kill", "bra", Choice(target="Bram")),
    ("protect", "no one", Choice(target=None)),
    ("inspect", "I look at Christa.", Choice(target="Christa")),
    ("whisper", "Bram he is the Seer", Proposal(target="Bram", word="he is the Seer")),
    ("whisper", "Bram", Proposal(target="Bram")),
]


@pytest.mark.parametrize(("kind", "line", "content"), READ)
def test_a_line_is_read_as_it_was_meant(kind: Kind, line: str, content: Content) -> None:
    assert read(kind, line) == content
    assert normalise(content) == content


TYPOS: list[tuple[Kind, str, str]] = TABLES["typos"]


@pytest.mark.parametrize(("kind", "line", "why"), TYPOS)
def test_a_typo_is_told(kind: Kind, line: str, why: str) -> None:
    typo = read(kind, line)
    assert isinstance(typo, Typo), typo
    assert why in typo.why
    assert typo.why.isprintable()


def test_words_that_no_reply_would_hold_are_refused_and_not_lost_on_the_way() -> None:
    config = GameConfig(max_reply_bytes=1000)
    assert isinstance(read("speak", "ö" * 200, config), Typo)
    assert read("speak", "ö" * 150, config) == Speech(text="ö" * 150)


@given(st.sampled_from(KINDS), st.text(min_size=1).filter(str.strip))
def test_no_line_makes_reading_raise_and_what_it_gives_is_legal(kind: Kind, line: str) -> None:
    content = read(kind, line)
    if isinstance(content, Typo):
        assert content.why.isprintable()
    elif isinstance(content, Ballot | Choice | Proposal):
        assert content.target in LEGAL
    elif isinstance(content, Label | Judgement):
        assert content.kind in DECEPTIONS
        assert normalise(content) == content
    elif isinstance(content, Bid):
        assert 0 <= content.bid <= 10
