"""A game as plain lines: complete, and one event a line."""

from __future__ import annotations

import io

import pytest

from tests.cli_views.games import SEEDS, lines_of, lively, recorded
from tests.game.driver import play
from wolfbus.cli.terminal.lines import PlainLines
from wolfbus.config import GameConfig
from wolfbus.messages.content import Ballot, Choice, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Absent, Rejected, Returned

NAMES = ("Wim", "Wes", "Sia", "Doc", "Vic", "Val", "Vox", "Von")
ROLES = ("Werewolf", "Werewolf", "Seer", "Doctor", *["Villager"] * 4)
TABLE = GameConfig(names=NAMES, roles=dict(zip(NAMES, ROLES, strict=True)), debate_turns=1)


def test_a_day_and_a_night_read_like_this():
    answers = {
        "whisper": lambda _: Proposal(target="Vic", word="him"),
        "protect": lambda _: Choice(target="Val"),
        "inspect": lambda _: Choice(target="Wim"),
        "speak": lambda _: Speech(text="I saw\nWim."),
        "assess_own": lambda _: Label(deceptive=True, confidence=1.0, kind="fabrication"),
        "assess_other": lambda seat: Judgement(deceptive=seat in {"Wim", "Wes"}, suspicion=0.25, confidence=1.0),
        "vote": lambda seat: Ballot(
            target="Wim" if seat != "Wim" else None, reason="So be it." if seat == "Sia" else None
        ),
    }

    def answer(question):
        later = question.round > 1 and question.legal
        return None if later or question.kind not in answers else answers[question.kind](question.seat)

    lines = lines_of(recorded(play(TABLE, "1", answer).events))
    speaker = next(line for line in lines if line.startswith("r1 debate 1")).split()[3]
    assert lines[2:11] == [
        "             played by test",
        "r1 night     the wolves go for Vic; Doc protects Val; Vic died",
        "r1 night     Sia (Seer) sees that Wim is a Werewolf",
        f"r1 debate 1  {speaker} ({TABLE.roles[speaker]}): “I saw Wim.”",
        f"               self: fabrication · suspected 0.25 by 6, flagged by {2 - (speaker in {'Wim', 'Wes'})}",
        "r1 vote      Wim 6 (Doc, Sia, Val, Von, Vox, Wes); 1 abstains (Wim); 4 needed",
        "r1 vote      Sia (Seer) for Wim: “So be it.”",
        "               Sia · self: fabrication · suspected 0.25 by 6, flagged by 2",
        "r1 vote      Wim (Werewolf) is exiled",
    ]
    assert lines[11].startswith("r2 night     ")
    assert lines[-2].startswith("end          ")


@pytest.mark.parametrize("seed", SEEDS)
def test_every_statement_has_its_line_and_the_line_of_its_assessment(seed: str):
    lines = lines_of(lively(seed))
    kinds = [each.event.type for each in lively(seed)]
    for words, kind in (("“", "statement"), ("self: ", "statement"), ("says nothing (timed out)", "silence")):
        assert sum(words in line for line in lines) == kinds.count(kind)


def test_events_out_of_the_ordinary_have_their_lines():
    note = "\x1b[2Jno such request was ever made"
    rejected = Rejected(sender="agent-\x1b[1m3", reason="unknown", size=214, note=note)
    odd = [lively("1")[0].event, Absent(seat="Ada"), Returned(seat="Ada"), rejected]
    assert [line.strip() for line in lines_of(recorded(odd))[-3:]] == [
        "Ada has stopped answering",
        "Ada answers again",
        "rejected a message of agent-3 (214 bytes): no such request was ever made",
    ]


def test_a_stream_without_our_characters_gets_question_marks():
    raw = io.BytesIO()
    view = PlainLines(io.TextIOWrapper(raw, encoding="ascii"))
    for each in lively("1"):
        view.see(each)
    assert b"): ?Look at " in raw.getvalue()


class Gone(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_has_gone_does_not_stop_the_game():
    view = PlainLines(Gone())
    for each in lively("1"):
        view.see(each)
    assert view.gone
