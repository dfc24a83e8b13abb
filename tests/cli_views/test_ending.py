"""The end of a game in a few lines: what they say is so, and they stay few."""

from __future__ import annotations

from tests.cli_views.games import SEEDS, hostile, lively
from wolfbus.cli.terminal.ending import LINES, GameEnding


def told(records) -> list[str]:
    ending = GameEnding()
    for recorded in records:
        ending.take(recorded)
    return ending.lines()


def test_an_ending_leaves_room_for_the_next_commands_within_25_lines():
    for seed in SEEDS:
        assert len(told(lively(seed))) <= LINES - 4
        assert len(told(hostile(seed))) <= LINES - 4


def test_a_broken_off_game_says_where_and_why():
    records = [each for each in lively("1") if each.event.type != "ended"]
    assert told(records)[0].startswith("THE GAME WAS BROKEN OFF in round ")


def test_nothing_of_a_hostile_game_reaches_the_terminal_raw():
    for line in told(hostile("1")):
        assert line.isprintable()
