"""What holds of every view of a game: it is harmless whatever is said, bears what is missing, and tells the end."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analytics.fold import GameFold
from tests.cli_views.games import (
    HOSTILE,
    HOSTILE_NAMES,
    SEEDS,
    hostile,
    is_harmless,
    lines_of,
    lively,
    recorded,
    state_of,
    views_of,
)
from tests.game.driver import play
from tests.llm.calls.woven import SHORT, call, lines, weave
from wolfbus.cli.proof import ProofCriteria, open_source, prove
from wolfbus.cli.terminal.ending import LINES
from wolfbus.cli.terminal.pages import WIDTH, seat_page, state_page, view_at
from wolfbus.messages.events import Rejected, Stopped
from wolfbus.printable import printable, spoken

REASON = "the budget of $1 is spent"


def stopped(reason: str = REASON):
    return recorded([*(each.event for each in lively("1")[:60]), Stopped(reason=reason)])


@given(st.text(st.characters(), max_size=400) | st.sampled_from(HOSTILE), st.integers(2, 600))
def test_any_text_becomes_one_short_harmless_line(text: str, limit: int):
    shown = printable(text, limit)
    assert is_harmless(shown)
    assert len(shown) <= limit


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\x1b[0m \x1b]0;title\x07c \x1b]8;;http://h\x1b\\d\x1b(0e\x9b1mf", "ab c def"),
        ("one\r\n\ttwo\u2028three", "one two three"),
        *(
            (words, words)
            for words in ("Zoë said: “no” – why?", "漢字 and кириллица", "e\u0301 ở tiếng Việt", "2 < 3 & [x]")
        ),
        ("x" * 50_000, "x" * 599 + "…"),
        ("x" * 600, "x" * 600),
    ],
)
def test_whole_escape_sequences_go_and_ordinary_words_of_any_language_stay(text: str, shown: str):
    assert printable(text, 600) == shown
    assert spoken("\u200b\x1b[2J") == "(nothing that can be printed)"


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_said_no_view_is_wide_long_or_dangerous(seed: str):
    records = hostile(seed)
    shown = views_of(records)
    assert all(is_harmless(line) for lines in shown.values() for line in lines)
    assert max(map(len, shown["lines"])) < 800
    assert len(shown["ending"]) <= LINES - 4
    pages = [state_page(state_of(records, until)) for until in (1, 60, 200, None)]
    pages += [seat_page(view_at(records, name, until)) for name in HOSTILE_NAMES for until in (60, None)]
    for line in (line for page in pages for line in page.split("\n")):
        assert is_harmless(line)
        assert len(line) <= WIDTH + 10


def test_nothing_in_a_name_or_a_statement_is_taken_for_markup():
    shown = "\n".join("\n".join(views_of(hostile("1")[:until])["live"]) for until in range(50, len(hostile("1")), 50))
    assert "[red]Ada[b]" in shown
    assert "[bold red]markup[/]" in shown


def test_a_record_with_holes_is_shown_as_far_as_it_goes():
    draws = random.Random(5)
    for each in lively("7"):
        lines_of([each])
    for _ in range(10):
        records = [each for each in lively("7") if draws.random() < 0.5]
        draws.shuffle(records)
        assert views_of(records)["page"]
        assert state_of(records).events == len(records)


def test_a_game_that_was_broken_off_says_so_and_why_and_waits_for_nobody():
    shown = views_of(stopped())
    assert shown["lines"][-2] == f"stopped      the game was broken off: {REASON}"
    assert " answers: " in shown["lines"][-1]
    assert any(f"The game was broken off: {REASON}" in line for line in shown["live"])
    assert shown["page"][1].startswith("broken off in round 1 · ")
    assert f"  stopped  the game was broken off: {REASON}" in shown["page"]
    assert not any("waiting for" in line for line in shown["page"])
    assert shown["ending"][0].startswith(f"THE GAME WAS BROKEN OFF in round 1: {REASON}")
    for words in HOSTILE:
        assert all(is_harmless(line) for lines in views_of(stopped(words)).values() for line in lines)


def test_a_proof_names_the_line_at_which_a_game_was_broken_off(tmp_path):
    path = tmp_path / "game.ndjson"

    def proof_of(events):
        path.write_bytes(lines(recorded(events)))
        return prove(open_source(str(path)), ProofCriteria(), keep=False)

    events = weave(play(SHORT, "1").events)
    proof = proof_of([*events[:100], Stopped(reason=REASON)])
    assert proof.problems == [f"line 101: the game was stopped before its end: {REASON}"]
    assert (proof.verified, proof.digest, proof.rows.finished) == (False, None, False)
    assert proof_of(events[:100]).problems == ["line 101: missing: the record stops before its game ended"]
    one_round = proof_of(play(SHORT.model_copy(update={"max_rounds": 1}), "1").events)
    assert " after 1 round (" in one_round.summary()[0]


def test_late_answers_are_told_apart_from_rejected_messages():
    late = [Rejected(sender="a", reason="closed", size=1, note="closed")] * 5
    odd = Rejected(sender="a", reason="sender", size=1, note="sender")
    opened, *_, ended = (each.event for each in lively("1"))
    assert lines_of(recorded([opened, *late, odd, ended]))[-1].endswith("; 5 answers came too late; 1 message rejected")
    assert lines_of(recorded([opened, late[0], ended]))[-1].endswith("; 1 answer came too late")


def test_only_calls_that_a_server_may_have_worked_on_lack_tokens():
    unknown = {"prompt_tokens": None, "cached_tokens": None, "completion_tokens": None}
    lost = {**unknown, "reply": None}
    refused = {**lost, "charged": False}
    slow = {"attempts": 2, "failures": ("http://a: 429: slow",)}
    busy = "http://a asked to be left alone for another 9 s, longer"
    calls = [
        call("1/debate/1/bid/Ada", **fields)
        for fields in (
            {},
            unknown,
            {**unknown, "cassette": True},
            {**lost, "attempts": 0, "error": "the circuit is open"},
            {**refused, **slow, "error": "http://a: 429: slow (2 attempts)"},
            {**refused, "error": "http://a: connection refused"},
            {**refused, "failures": ("http://a: 429",), "error": busy},
            {**lost, **slow, "error": "http://a: no reply within 3 s (2 attempts)"},
        )
    ]
    opened, *_, ended = (each.event for each in lively("1"))
    told = lines_of(recorded([opened, *calls, ended]))[-1].strip()
    assert told == "8 model calls (5 failed) · 1 from a cassette · 1,050 tokens (without 2 uncounted calls)"
    fold = GameFold()
    for event in (opened, *calls):
        fold.feed(event)
    (sums,) = fold.rows().calls.values()
    found = sums.result()
    assert (found["calls"], found["failed"], found["cassette"]) == (8, 5, 1)
    assert [found[f"{name}_missing"] for name in ("prompt_tokens", "completion_tokens", "cost_usd")] == [2, 2, 3]


def test_plain_lines_and_pages_do_without_rich():
    code = "import sys; from wolfbus.cli.terminal import lines, pages, playback; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
