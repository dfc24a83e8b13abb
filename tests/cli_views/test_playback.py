"""Playback gives time to read, and never sleeps by itself in a test."""

import math
import os
import pty
import signal
import sys

import pytest

from tests.cli_views.games import Terminal, hostile, lively
from wolfbus.cli.terminal.playback import (
    beat_lines,
    key_presses,
    lent_while_stopped,
    open_display,
    pause_for,
    play_back,
)
from wolfbus.messages.events import Rejected, Statement, Stopped

GAME = lively("1")
ALL = [entry.n for entry in GAME]


def played(records=GAME, speed: float = 1.0, *, until: int | None = None, pressed=()):
    """Play back under these keys, one a pause; return what was shown and for how long there was a wait."""
    shown_lines: list[int] = []
    waited: list[float | None] = []
    stops: list[int] = []
    left = iter(pressed)

    def wait(seconds: float | None) -> str | None:
        waited.append(seconds)
        stops.append(shown_lines[-1])
        return next(left, None)

    play_back(records, lambda recorded: shown_lines.append(recorded.n), speed, until, wait, shown_lines.clear)
    return shown_lines, waited, stops


@pytest.mark.parametrize(("length", "pause"), [(250, 10), (3, 1), (50_000, 24)])
def test_a_statement_stays_as_long_as_it_takes_to_read_what_is_shown_of_it(length: int, pause: float):
    assert pause_for(Statement(statement=1, round=1, phase="debate", turn=1, speaker="Ada", text="x" * length)) == pause


def test_what_is_seen_gets_a_glance_and_what_is_not_gets_none():
    pauses = {entry.event.type: pause_for(entry.event) for entry in lively("7")}
    assert {pauses[kind] for kind in ("asked", "answered", "claim_truth")} == {0}
    assert {pauses[kind] for kind in ("tally", "exile", "dawn")} == {0.5}
    assert pause_for(Stopped(reason="spent")) == 0.5
    assert pause_for(Rejected(sender="a", reason="closed", size=1, note="")) == 0
    assert max(pause_for(entry.event) for entry in hostile("1")) <= 24


def test_every_event_is_shown_before_its_pause_and_speed_divides_the_pauses():
    shown_lines, waited, stops = played()
    assert shown_lines == ALL
    assert stops == [entry.n for entry in GAME if pause_for(entry.event)]
    assert sum(waited) == pytest.approx(sum(pause_for(entry.event) for entry in GAME))
    assert sum(played(speed=4.0)[1]) == pytest.approx(sum(waited) / 4)


def test_playback_ends_where_it_is_told_to():
    assert played(speed=math.inf, until=12) == (ALL[:12], [], [])
    assert played(speed=math.inf, until=0) == ([], [], [])


def test_q_shows_the_rest_at_once_and_space_stays_until_the_next_key():
    shown_lines, waited, _ = played(pressed=["quit"])
    assert (shown_lines, len(waited)) == (ALL, 1)
    _, waited, _ = played(pressed=["pause", "pause"])
    assert waited[1] is None
    assert None not in waited[2:]


def test_arrows_go_from_sentence_to_sentence_and_back():
    beats = beat_lines(GAME)
    shown_lines, _, stops = played(pressed=["on", "on", "on", "back", "quit"])
    assert stops == [beats[0], beats[1], beats[2], beats[3], beats[2]]
    assert shown_lines == ALL


def test_keys_that_come_together_all_count(monkeypatch):
    """Of one that is held down, or that is pressed while much is shown, several come at once."""
    controller, terminal = pty.openpty()
    with os.fdopen(terminal) as keyboard, os.fdopen(controller, "wb", buffering=0) as typing:
        monkeypatch.setattr(sys, "stdin", keyboard)
        with key_presses() as wait:
            typing.write(b"\x1b[C\x1b[Cx\x1bOD  q")
            assert [wait(30) for _ in range(6)] == ["on", "on", "back", "pause", "pause", "quit"]
            assert wait(0) is None


def test_the_shell_has_its_terminal_back_while_ctrl_z_stops_a_showing():
    steps: list[str] = []
    outer = signal.signal(signal.SIGTSTP, lambda *_: steps.append("stopped"))
    try:
        with lent_while_stopped(lambda: steps.append("given back"), lambda: steps.append("taken")):
            signal.raise_signal(signal.SIGTSTP)
            signal.raise_signal(signal.SIGTSTP)
        signal.raise_signal(signal.SIGTSTP)
    finally:
        signal.signal(signal.SIGTSTP, outer)
    assert steps == [*["given back", "stopped", "taken"] * 2, "stopped"]


def test_who_reads_along_on_a_terminal_that_cannot_move_its_cursor_reads_plain_lines(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with open_display(quiet=False, plain=False, paced=True) as display:
        display.show(GAME[0])
        assert "players: " in terminal.getvalue()
