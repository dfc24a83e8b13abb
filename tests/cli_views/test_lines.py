"""A game as plain lines: complete, one event a line, and never more than words."""

from __future__ import annotations

import io
import subprocess
import sys

import pytest

from tests.cli_views.games import SEEDS, hostile, lively, recorded
from tests.cli_views.test_printable import is_harmless
from tests.game.driver import play
from wolfbus.cli.terminal.lines import PlainLines
from wolfbus.config import GameConfig
from wolfbus.messages.content import Ballot, Choice, Judgement, Label, Proposal, Speech
from wolfbus.messages.events import Absent, Rejected, Returned, Silence, Statement

NAMES = ("Wim", "Wes", "Sia", "Doc", "Vic", "Val", "Vox", "Von")
TABLE = GameConfig(
    names=NAMES,
    roles=dict(zip(NAMES, ("Werewolf", "Werewolf", "Seer", "Doctor", *["Villager"] * 4), strict=True)),
    debate_turns=1,
)


def lines_of(records) -> list[str]:
    stream = io.StringIO()
    view = PlainLines(stream)
    for each in records:
        view.see(each)
    return stream.getvalue().splitlines()


def test_a_day_and_a_night_read_like_this():
    def answer(question):
        kind = question.kind
        if question.round > 1 and question.legal:
            return None
        if kind == "whisper":
            return Proposal(target="Vic", word="him")
        if kind in {"protect", "inspect"}:
            return Choice(target="Val" if kind == "protect" else "Wim")
        if kind == "speak":
            return Speech(text="I saw\nWim.")
        if kind == "assess_own":
            return Label(deceptive=True, confidence=1.0, kind="fabrication")
        if kind == "assess_other":
            return Judgement(deceptive=question.seat in {"Wim", "Wes"}, suspicion=0.25, confidence=1.0)
        if kind == "vote":
            reason = "So be it." if question.seat == "Sia" else None
            return Ballot(target="Wim" if question.seat != "Wim" else None, reason=reason)
        return None

    lines = lines_of(recorded(play(TABLE, "1", answer).events))
    speaker = next(line for line in lines if line.startswith("r1 debate 1")).split()[3]
    assert lines[2:12] == [
        "             played by test",
        "r1 night     the wolves go for Vic; Doc protects Val; Vic died",
        "r1 night     Sia (Seer) sees that Wim is a Werewolf",
        f"r1 debate 1  {speaker} ({TABLE.roles[speaker]}): “I saw Wim.”",
        f"               self: fabrication · suspected 0.25 by 6, flagged by {2 - (speaker in {'Wim', 'Wes'})}",
        "r1 vote      Wim 6 (Doc, Sia, Val, Von, Vox, Wes); 1 abstains (Wim); 4 needed",
        "r1 vote      Sia (Seer) for Wim: “So be it.”",
        "               Sia · self: fabrication · suspected 0.25 by 6, flagged by 2",
        "r1 vote      Wim (Werewolf) is exiled",
        lines[11],
    ]
    assert lines[11].startswith("r2 night     ")
    assert lines[-2].startswith("end          ")


@pytest.mark.parametrize("seed", SEEDS)
def test_every_statement_has_its_line_and_the_line_of_its_assessment(seed: str):
    lines = lines_of(lively(seed))
    events = [each.event for each in lively(seed)]
    spoken = [event for event in events if isinstance(event, Statement)]
    assert sum("“" in line for line in lines) == len(spoken)
    assert sum("self: " in line for line in lines) == len(spoken)
    silent = [event for event in events if isinstance(event, Silence)]
    assert sum("says nothing (timed out)" in line for line in lines) == len(silent)


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_said_lines_stay_harmless_and_short(seed: str):
    for line in lines_of(hostile(seed)):
        assert is_harmless(line)
        assert len(line) < 800


def test_events_out_of_the_ordinary_have_their_lines():
    opened = lively("1")[0].event
    note = "\x1b[2Jno such request was ever made"
    odd = [
        opened,
        Absent(seat="Ada"),
        Returned(seat="Ada"),
        Rejected(sender="agent-\x1b[1m3", reason="unknown", size=214, note=note),
    ]
    assert [line.strip() for line in lines_of(recorded(odd))[-3:]] == [
        "Ada has stopped answering",
        "Ada answers again",
        "rejected a message of agent-3 (214 bytes): no such request was ever made",
    ]


def test_any_event_may_come_first():
    for each in lively("7"):
        lines_of([each])


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
    assert not view.gone
    for each in lively("1"):
        view.see(each)
    assert view.gone


def test_plain_lines_and_pages_do_without_rich():
    code = "import sys; from wolfbus.cli.terminal import lines, pages, playback; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
