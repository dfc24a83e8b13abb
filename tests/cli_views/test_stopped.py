"""A game that was broken off says so and why, wherever it is looked at."""

from __future__ import annotations

from pathlib import Path

from analytics.fold import GameFold
from tests.cli_views.games import HOSTILE, lively, recorded
from tests.cli_views.test_lines import lines_of
from tests.cli_views.test_live import assert_it_fits, drawn
from tests.cli_views.test_printable import is_harmless
from tests.cli_views.test_state import state_of
from tests.game.driver import play
from tests.llm.calls.woven import SHORT, call, lines, weave
from wolfbus.cli.proof import ProofCriteria, open_source, prove
from wolfbus.cli.terminal.pages import state_page
from wolfbus.cli.terminal.playback import pause_for
from wolfbus.messages.events import Rejected, Stopped
from wolfbus.record.line import Recorded

REASON = "the budget of $1 is spent"


def stopped(reason: str = REASON) -> list[Recorded]:
    return recorded([*(each.event for each in lively("1")[:60]), Stopped(reason=reason)])


def test_the_lines_end_with_the_reason_and_the_sums():
    told = lines_of(stopped())
    assert told[-2] == f"stopped      the game was broken off: {REASON}"
    assert " answers: " in told[-1]


def test_the_live_view_and_the_page_say_it_and_nobody_is_waited_for_any_more():
    state = state_of(stopped())
    assert state.stopped is not None
    assert state.waiting_for() == {}
    assert f"The game was broken off: {REASON}" in "\n".join(drawn(state, 120, 40))
    assert_it_fits(state, 40, 12)
    page = state_page(state)
    assert f"\n  stopped  the game was broken off: {REASON}\n" in page
    assert page.splitlines()[1].startswith("broken off in round 1 · ")
    assert "waiting for" not in page


def test_playback_stays_on_it_and_metrics_take_the_game_as_unfinished():
    assert pause_for(Stopped(reason=REASON)) == 0.5
    fold = GameFold()
    for each in stopped():
        fold.feed(each.event, each.time)
    assert not fold.rows().finished


def test_whatever_the_reason_it_is_harmless():
    for words in HOSTILE:
        records = stopped(words)
        shown = [*lines_of(records), *drawn(state_of(records), 80, 24), *state_page(state_of(records)).splitlines()]
        assert all(is_harmless(line) for line in shown)


def test_proof_names_the_line_and_the_reason(tmp_path: Path):
    events = weave(play(SHORT, "1").events)
    path = tmp_path / "game.ndjson"
    path.write_bytes(lines(recorded([*events[:100], Stopped(reason=REASON)])))
    proof = prove(open_source(str(path)), ProofCriteria(), keep=False)
    assert proof.problems == [f"line 101: the game was stopped before its end: {REASON}"]
    assert proof.verified is False
    assert proof.digest is None
    path.write_bytes(lines(recorded(events[:100])))
    proof = prove(open_source(str(path)), ProofCriteria(), keep=False)
    assert proof.problems == ["line 101: missing: the record stops before its game ended"]


def test_one_round_is_one_round(tmp_path: Path):
    config = SHORT.model_copy(update={"max_rounds": 1})
    path = tmp_path / "game.ndjson"
    path.write_bytes(lines(recorded(play(config, "1").events)))
    (first, *_) = prove(open_source(str(path)), ProofCriteria(), keep=False).summary()
    assert " after 1 round (" in first


def test_late_answers_are_told_apart_from_rejected_messages():
    late = [Rejected(sender="a", reason="closed", size=1, note="closed")] * 5
    odd = Rejected(sender="a", reason="sender", size=1, note="sender")
    opened, *_, ended = (each.event for each in lively("1"))
    assert lines_of(recorded([opened, *late, odd, ended]))[-1].endswith("; 5 answers came too late; 1 message rejected")
    assert lines_of(recorded([opened, late[0], ended]))[-1].endswith("; 1 answer came too late")


def test_only_calls_that_a_server_may_have_worked_on_lack_tokens():
    unknown = {"prompt_tokens": None, "cached_tokens": None, "completion_tokens": None}
    lost = {**unknown, "reply": None}
    opened, *_, ended = (each.event for each in lively("1"))
    name = "1/debate/1/bid/Ada"
    calls = [
        call(name),
        call(name, **unknown),
        call(name, **unknown, cassette=True),
        call(name, **lost, attempts=0, error="the circuit is open"),
        call(
            name,
            **lost,
            attempts=2,
            failures=("http://a: 429: slow",),
            error="http://a: 429: slow (2 attempts)",
            charged=False,
        ),
        call(name, **lost, error="http://a: connection refused", charged=False),
        call(
            name,
            **lost,
            failures=("http://a: 429",),
            error="http://a asked to be left alone for another 9 s, longer",
            charged=False,
        ),
        call(name, **lost, attempts=2, failures=("http://a: 429",), error="http://a: no reply within 3 s (2 attempts)"),
    ]
    told = lines_of(recorded([opened, *calls, ended]))[-1].strip()
    assert told == "8 model calls (5 failed) · 1 from a cassette · 1,050 tokens (without 2 uncounted calls)"
    fold = GameFold()
    for event in (opened, *calls):
        fold.feed(event)
    (sums,) = fold.rows().calls.values()
    found = sums.result()
    assert (found["calls"], found["failed"], found["cassette"]) == (8, 5, 1)
    assert [found[f"{name}_missing"] for name in ("prompt_tokens", "completion_tokens", "cost_usd")] == [2, 2, 3]
