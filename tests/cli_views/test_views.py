"""What holds of every view of a game: it is harmless whatever is said, bears what is missing, and tells the end."""

import io
import json
import random
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.cells import cell_len

from analytics.gather import GameFold, fold
from tests.cli_views.conftest import Replay
from tests.cli_views.games import (
    HOSTILE,
    HOSTILE_NAMES,
    SEEDS,
    drawn,
    hostile,
    is_harmless,
    lines_of,
    lively,
    mean_suspicion,
    recorded,
)
from tests.game.driver import play
from tests.golden.running import wolfbus
from tests.llm.calls.woven import SHORT, call, lines, weave
from wolfbus.cli.terminal.playback import open_display
from wolfbus.messages.content import Speech
from wolfbus.messages.events import Absent, Rejected, Returned, Stopped

REASON = "the budget of $1 is spent"
CUTS = {entry.event.round: at for at, entry in enumerate(lively("1")) if entry.event.type == "exile"}
"""By day: lines of a record that ends when it is over, but for its vote."""
PLAYED_BACK = ("--speed", "1000000", "--plain")


def test_whatever_is_said_no_view_is_wide_long_or_dangerous(replay: Replay):
    result = replay("hostile", *PLAYED_BACK)
    assert result.code == 0, result.err[-300:]
    plain, ending = result.err.splitlines(), result.out.splitlines()
    assert max(map(len, plain)) < 800
    assert len(ending) <= 30
    pages = [("--until", "60"), ("--until", str(len(hostile("1")))), ("--until", "200")]
    # a seat of each role; every page has all names
    seats = {seat.role: seat.name for seat in hostile("1")[0].event.seats}.values()
    pages += [("--as", name) for name in seats] + [("--as", HOSTILE_NAMES[0], "--until", "60")]
    paged = [line for words in pages for line in replay("hostile", *words).out.splitlines()]
    assert len(paged) > 300
    assert max(map(len, paged)) <= 110
    assert all(is_harmless(line) for line in (*plain, *ending, *paged, *drawn(hostile("1"))))


def test_columns_stand_below_each_other_however_wide_the_letters_of_names_are(replay: Replay):
    def rows(page: list[str], heading: str) -> list[str]:
        first = 1 + next(place for place, line in enumerate(page) if line.startswith(heading))
        return page[first : first + len(HOSTILE_NAMES)]

    everything = replay("hostile", "--until", "200").out.splitlines()
    seen = replay("hostile", "--as", HOSTILE_NAMES[0], "--until", "200").out.splitlines()
    for page in (everything, seen):
        # up to the next column
        names = [re.split(" (alive|killed)", line)[0] for line in rows(page, "Players")]
        assert len(set(map(cell_len, names))) == 1
    # the heads, and all rows but the last, whose own column is empty
    assert len(set(map(cell_len, rows(everything, "Smoothed suspicion of the row")))) == 1


def test_statements_in_letters_of_double_width_are_wrapped_at_a_hundred_columns(replay: Replay):
    said = replay("hostile", "--as", HOSTILE_NAMES[0]).out.split("Transcript", 1)[1].splitlines()
    wide = [line for line in said if "漢字漢字" in line]
    assert len(wide) > 10
    assert max(map(cell_len, wide)) <= 100


def test_nothing_in_a_name_or_a_statement_is_taken_for_markup():
    text = "\n".join(line for until in range(50, len(hostile("1")), 50) for line in drawn(hostile("1")[:until]))
    assert "[red]Ada[b]" in text
    assert "[bold red]markup[/]" in text


def test_whole_escape_sequences_go_and_ordinary_words_of_any_language_stay():
    words = {
        "a\x1b[31mb\x1b[0m \x1b]0;title\x07c \x1b]8;;http://h\x1b\\d\x1b(0e\x9b1mf": "ab c def",
        "one\r\n\ttwo\u2028three": "one two three",
        "\u200b\x1b[2J": "(nothing that can be printed)",
        "x" * 50_000: "x" * 599 + "…",
        **{text: text for text in ("Zoë said: “no” – why?", "漢字 and кириллица", "e\u0301 ở tiếng Việt", "2 < [x]")},
    }
    texts = iter(words)
    events = [entry.event for entry in lively("1")]
    spoken = [event for event in events if event.type == "statement"][: len(words)]
    replaced = [event.model_copy(update={"text": next(texts)}) if event in spoken else event for event in events]
    quoted = [line.partition("“")[2] for line in lines_of(recorded(replaced)) if "“" in line]
    assert quoted[: len(words)] == [f"{text}”" for text in words.values()]


def test_a_record_with_holes_is_shown_as_far_as_it_goes(tmp_path: Path):
    draws = random.Random(5)
    for entry in lively("7"):
        lines_of([entry])
    for _ in range(5):
        records = [line for line in lively("7") if draws.random() < 0.5]
        draws.shuffle(records)
        assert lines_of(records)
        assert drawn(records)
        events = [line.event for line in lively("7") if line.n == 1 or draws.random() < 0.5]
        (tmp_path / "holes.ndjson").write_bytes(lines(recorded(events)))
        assert wolfbus(tmp_path, "page", "holes.ndjson").code in {0, 1}
        assert "</html>" in (tmp_path / "holes.html").read_text("utf-8")[-20:]


@pytest.mark.parametrize(("reason", "day"), [(REASON, 3), *((words, 1) for words in HOSTILE)])
def test_a_game_that_was_broken_off_says_so_and_why_and_waits_for_nobody(replay: Replay, reason: str, day: int):
    at = CUTS[day]
    cut = recorded([*(entry.event for entry in lively("1")[:at]), Stopped(reason=reason)])
    result, page = replay(cut, *PLAYED_BACK), replay(cut, "--until", str(at + 1)).out.splitlines()
    plain, live = result.err.splitlines(), drawn(cut)
    assert result.code == 1
    assert all(is_harmless(line) for line in (*plain, *page, *live, *result.out.splitlines()))
    assert page[1].startswith(f"broken off in round {day} · ")
    assert not any("waiting for" in line for line in page)
    assert result.out.startswith(f"THE GAME WAS BROKEN OFF in round {day}")
    if reason == REASON:
        assert plain[-3] == f"stopped      the game was broken off: {REASON}"
        assert " answers: " in plain[-2]
        assert f"line {at + 1}: the game was stopped before its end: {REASON}" in plain[-1]
        assert any(f"The game was broken off: {REASON}" in line for line in live)
        assert f"  stopped  the game was broken off: {REASON}" in page
        assert result.out.startswith(f"THE GAME WAS BROKEN OFF in round {day}: {REASON}")


def test_of_a_day_that_was_broken_off_its_lies_are_told(replay: Replay):
    events = play(
        SHORT, "1", lambda question: Speech(text="I am the Seer.") if question.kind == "speak" else None
    ).events
    cut = events[: next(at for at, event in enumerate(events) if event.type == "tally")]
    assert "claims to be the Seer" in replay(recorded([*cut, Stopped(reason=REASON)])).out


def test_an_ending_counts_those_who_had_to_find_out_neither_accomplices_nor_the_accused(replay: Replay):
    rows = fold(line.event for line in lively("1"))
    labels, judged = {statement.number: statement.d for statement in rows.statements}, Counter()
    accused = {
        (statement.number, scored.claim.target)
        for statement in rows.statements
        for scored in statement.claims
        if scored.claim.claim == "accusation"
    }
    for judgement in rows.judgements:
        if not judgement.informed and (judgement.statement, judgement.observer) not in accused:
            judged[labels[judgement.statement], judgement.d] += 1
    lies, truths = (f"{judged[d, True]} of {judged[d, True] + judged[d, False]}" for d in (True, False))
    printed = " ".join(replay("lively-1", *PLAYED_BACK).out.split())
    flagged = f"Those who had to find out flagged deceptive* words {lies} times, honest ones {truths} (*"
    assert flagged in printed
    game = list(lively("1"))
    means = {name: mean for name, mean in mean_suspicion(game).items() if mean is not None}
    highest = max(means, key=means.__getitem__)
    assert f"most suspected: {highest}, the {rows.seats[highest].role} ({means[highest] * 100:.0f} %)" in printed


def test_a_record_that_stops_before_its_game_does_is_no_proof_and_has_no_digest(replay: Replay):
    events = weave(play(SHORT, "1").events)
    proof = json.loads(replay(recorded(events[:100]), "--json").out)
    assert proof["problems"] == ["line 101: missing: the record stops before its game ended"]
    assert (proof["verified"], proof["digest"], proof["rounds"]) == (False, None, None)
    one_round = play(SHORT.model_copy(update={"max_rounds": 1}), "1").events
    assert " after 1 round (" in replay(recorded(one_round), "--tables").out


@pytest.mark.parametrize("seed", SEEDS)
def test_every_statement_has_its_plain_line_and_the_line_of_its_assessment(seed: str):
    printed = lines_of(lively(seed))
    kinds = [entry.event.type for entry in lively(seed)]
    for words, kind in (("“", "statement"), ("self: ", "statement"), ("says nothing (timed out)", "silence")):
        assert sum(words in line for line in printed) == kinds.count(kind)


def test_events_out_of_the_ordinary_have_their_lines():
    note = "\x1b[2Jno such request was ever made"
    late = Rejected(sender="a", reason="closed", size=1, note="closed")
    odd = Rejected(sender="agent-\x1b[1m3", reason="unknown", size=214, note=note)
    opened, *_, ended = (entry.event for entry in lively("1"))
    printed = lines_of(recorded([opened, Absent(seat="Ada"), Returned(seat="Ada"), odd, *[late] * 5, ended]))
    assert [line.strip() for line in printed[-10:-7]] == [
        "Ada has stopped answering",
        "Ada answers again",
        "rejected a message of agent-3 (214 bytes): no such request was ever made",
    ]
    assert printed[-1].endswith("; 5 answers came too late; 1 message rejected")
    assert lines_of(recorded([opened, late, ended]))[-1].endswith("; 1 answer came too late")


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
    opened, *_, ended = (entry.event for entry in lively("1"))
    printed = lines_of(recorded([opened, *calls, ended]))[-1].strip()
    assert printed == "8 model calls (5 failed) · 1 from a cassette · 1,050 tokens (without 2 uncounted calls)"
    fold = GameFold()
    for event in (opened, *calls):
        fold.feed(event)
    (sums,) = fold.rows().calls.values()
    usage = sums.result()
    assert (usage["calls"], usage["failed"], usage["cassette"]) == (8, 5, 1)
    assert [usage[f"{name}_missing"] for name in ("prompt_tokens", "completion_tokens", "cost_usd")] == [2, 2, 3]


class Gone(io.StringIO):
    """A stream whose reader has gone."""

    tried = 0

    def write(self, _text: str) -> int:
        self.tried += 1
        raise BrokenPipeError


def test_a_stream_without_our_characters_gets_question_marks_and_one_whose_reader_has_gone_is_left_alone(monkeypatch):
    raw, closed = io.BytesIO(), Gone()
    for stream in (io.TextIOWrapper(raw, encoding="ascii"), closed):
        monkeypatch.setattr("sys.stderr", stream)
        with open_display(quiet=False, plain=True) as display:
            for entry in lively("1"):
                display.show(entry)
    assert b"): ?Look at " in raw.getvalue()
    assert closed.tried == 1
