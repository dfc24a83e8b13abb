"""A game as plain lines: complete, and one event a line. How they read is among the golden texts."""

from __future__ import annotations

import io

import pytest

from tests.cli_views.games import SEEDS, lines_of, lively, recorded
from wolfbus.cli.terminal.lines import PlainLines
from wolfbus.messages.events import Absent, Rejected, Returned


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
