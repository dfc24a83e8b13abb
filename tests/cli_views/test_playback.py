"""Playback gives time to read, and never sleeps by itself in a test."""

from __future__ import annotations

import math

import pytest

from tests.cli_views.games import hostile, lively
from wolfbus.cli.terminal.playback import beat_lines, pause_for, play_back
from wolfbus.errors import ConfigError
from wolfbus.messages.events import Answered, Asked, ClaimTruth, Dawn, Exile, Rejected, Statement, Tally


def statement(text: str) -> Statement:
    return Statement(statement=1, round=1, phase="debate", turn=1, speaker="Ada", text=text)


def test_a_statement_stays_as_long_as_it_takes_to_read():
    assert pause_for(statement("x" * 250)) == 10
    assert pause_for(statement("No.")) == 1


def test_no_statement_stays_longer_than_what_is_shown_of_it():
    assert pause_for(statement("x" * 50_000)) == 24
    assert max(pause_for(each.event) for each in hostile("1")) <= 24


def test_what_is_seen_gets_a_glance_and_what_is_not_gets_none():
    for each in lively("7"):
        pause = pause_for(each.event)
        if isinstance(each.event, Asked | Answered | ClaimTruth):
            assert pause == 0
        elif isinstance(each.event, Tally | Exile | Dawn):
            assert pause == 0.5
    assert pause_for(Rejected(sender="a", reason="closed", size=1, note="")) == 0


def test_speed_divides_the_time_that_a_playback_takes():
    records = lively("1")
    total = {}
    for speed in (1.0, 4.0):
        slept: list[float] = []
        shown: list[int] = []
        assert play_back(records, lambda each, to=shown: to.append(each.n), speed, wait=slept.append) == len(records)
        assert shown == [each.n for each in records]
        total[speed] = sum(slept)
    assert total[1.0] == pytest.approx(sum(pause_for(each.event) for each in records))
    assert total[4.0] == pytest.approx(total[1.0] / 4)


def test_an_event_is_shown_before_its_pause():
    happened: list[str] = []
    play_back(
        [each for each in lively("1") if isinstance(each.event, Statement)][:2],
        lambda _: happened.append("shown"),
        1,
        wait=lambda _: happened.append("slept"),
    )
    assert happened == ["shown", "slept", "shown", "slept"]


def test_playback_ends_where_it_is_told_to():
    shown: list[int] = []
    assert play_back(lively("1"), lambda each: shown.append(each.n), math.inf, until=12) == 12
    assert shown == list(range(1, 13))
    assert play_back(lively("1"), lambda each: shown.append(each.n), math.inf, until=0) == 0


def keys(*pressed: str | None):
    """Return a wait in which these keys are pressed, one a pause, and what was waited for."""
    waited: list[float | None] = []
    left = iter(pressed)

    def wait(seconds: float | None) -> str | None:
        waited.append(seconds)
        return next(left, None)

    return wait, waited


def test_q_shows_the_rest_at_once():
    shown: list[int] = []
    wait, waited = keys("quit")
    assert play_back(lively("1"), lambda each: shown.append(each.n), 1, wait=wait) == len(lively("1"))
    assert len(waited) == 1
    assert shown == [each.n for each in lively("1")]


def test_space_stays_until_the_next_key():
    wait, waited = keys("pause", "pause")
    play_back(lively("1"), lambda _: None, 1, wait=wait)
    assert waited[1] is None
    assert None not in waited[2:]


def test_arrows_go_from_sentence_to_sentence_and_back():
    records = lively("1")
    beats = beat_lines(records)
    shown: list[int] = []
    stops: list[int] = []

    def restart() -> None:
        shown.clear()

    pressed = iter(["on", "on", "on", "back", "quit"])

    def wait(_: float | None) -> str | None:
        stops.append(shown[-1])
        return next(pressed, None)

    play_back(records, lambda each: shown.append(each.n), 1, wait=wait, restart=restart)
    assert stops == [beats[0], beats[1], beats[2], beats[3], beats[2]]
    assert shown == [each.n for each in records]


@pytest.mark.parametrize("speed", [0, -1, math.nan])
def test_a_speed_that_is_none_is_refused(speed: float):
    with pytest.raises(ConfigError, match="speed"):
        play_back(lively("1"), lambda _: None, speed)
