"""The live view fits every terminal, shows what there is room for, and can be fed from any thread."""

from __future__ import annotations

import io
import math
import re
import threading
import time
from collections.abc import Iterator

import pytest
from rich.console import Console

from tests.cli_views.games import SEEDS, drawn, hostile, lively, recorded, state_of
from tests.game.driver import play
from wolfbus.cli.terminal.live import LiveView, clock_of
from wolfbus.cli.terminal.panels import hundredths, matrix
from wolfbus.cli.terminal.playback import play_back
from wolfbus.config import GameConfig
from wolfbus.errors import RecordError
from wolfbus.messages.events import Rejected
from wolfbus.record.line import Recorded
from wolfbus.state import GameState

SIZES = [(80, 24), (100, 30), (120, 40), (140, 45), (160, 50), (200, 60)]
SMALLEST = [(width, height) for width in (1, 5, 12, 20, 33, 40, 71, 72) for height in (1, 2, 3, 5, 9, 30)]
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])[0-9;]*m")


@pytest.mark.parametrize("seed", SEEDS)
def test_every_line_fits_at_any_point_of_a_game_and_in_any_window(seed: str):
    for records in (lively(seed), hostile(seed)):
        state = GameState()
        for number, each in enumerate(records):
            state.feed(each.event)
            if number % 90 == 0:
                for size in SIZES:
                    drawn(state, *size)
        for size in (*SIZES, *SMALLEST):
            drawn(state, *size)
    for size in SMALLEST:
        drawn(GameState(), *size)


def test_sixteen_players_fit_and_have_their_matrix_where_there_is_room():
    config = GameConfig(villagers=11, werewolves=3, seers=1, doctors=1)
    state = state_of(recorded(play(config, "3").events))
    shown = [drawn(state, *size) for size in SIZES]
    assert any("Suspicion" in line for line in shown[-2])


def test_a_small_terminal_shows_players_and_debate_and_a_large_one_everything():
    state = state_of(lively("7"))
    small, large = "\n".join(drawn(state, 80, 24)), "\n".join(drawn(state))
    common = ("Players", "Transcript", "win")
    assert [word for word in common if word not in small] == []
    assert "Suspicion of the row" not in small
    more = ("Suspicion of the row", f"Vote {state.round}", "Night", "hunted", "12:34", *state.seats)
    assert [word for word in (*common, *more) if word not in large] == []


def test_the_matrix_shows_two_digits_for_every_judged_pair():
    state = state_of(lively("7"))
    rows = [line.plain for line in matrix(state, 60)[2:]]
    for observer, row in zip(state.seats, rows, strict=True):
        judged = [target for target in state.seats if state.suspicion.judged(observer, target)]
        assert re.findall(r"\b\d\d\b", row) == [hundredths(state.suspicion.of(observer, target)) for target in judged]
    assert (hundredths(1.0), hundredths(0.0)) == ("99", "00")


def test_who_is_waited_for_and_what_was_rejected_is_told():
    state = state_of(lively("1"), 2)
    for reason in ("closed", "sender"):
        state.feed(Rejected(sender="a", reason=reason, size=1, note=reason))
    assert re.search(r"waiting for .* · 1 answer came too late · 1 message rejected", "\n".join(drawn(state)))


class Screen(io.StringIO):
    """A terminal that tells when certain words have been drawn."""

    def __init__(self, words: str = "Transcript") -> None:
        super().__init__()
        self.drawn = threading.Event()
        self._words = words

    def write(self, text: str) -> int:
        if self._words in text:
            self.drawn.set()
        return super().write(text)


def terminal(file: io.StringIO, **options) -> Console:
    options = {"force_terminal": True, "color_system": "truecolor", **options}
    return Console(file=file, width=100, height=30, **options)


def test_events_from_another_thread_are_drawn_while_the_game_goes_on():
    screen = Screen()
    began = time.monotonic()
    with LiveView(terminal(screen)) as view:
        feeder = threading.Thread(target=lambda: [view.see(each) for each in lively("7")])
        feeder.start()
        assert screen.drawn.wait(20)
        feeder.join()
    frames = screen.getvalue().count("\x1b[H")
    assert frames <= 8 * (time.monotonic() - began) + 3
    _, _, after = screen.getvalue().rpartition("\x1b[?1049l")
    assert re.search(r"(win|wins) after \d+ rounds", after)
    assert "Transcript" in after
    assert all(each.name != "live-view" for each in threading.enumerate())


def broken() -> Iterator[Recorded]:
    yield lively("7")[0]
    raise RecordError("the hash does not match", 2)


def test_the_screen_is_given_back_when_something_fails():
    screen = io.StringIO()
    with pytest.raises(RecordError), LiveView(terminal(screen)) as view:
        play_back(broken(), view.see, math.inf)
    assert screen.getvalue().count("\x1b[?1049h") == screen.getvalue().count("\x1b[?1049l") == 1
    assert "\x1b[?25h" in screen.getvalue()


@pytest.mark.parametrize(
    ("options", "no_color", "coloured"),
    [({}, False, True), ({}, True, False), ({"force_terminal": False, "color_system": "auto"}, False, False)],
)
def test_there_is_colour_on_a_terminal_and_elsewhere_only_the_last_frame(options, no_color, coloured, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    file = io.StringIO()
    with LiveView(terminal(file, **options)) as view:
        for each in lively("7"):
            view.see(each)
    assert (COLOUR.search(file.getvalue()) is not None) == coloured
    if options:
        assert "\x1b" not in file.getvalue()
        assert file.getvalue().count("Transcript") == 1
        assert len(file.getvalue().splitlines()) <= 29


def test_the_clock_goes_by_the_record_in_a_replay_and_by_the_wall_in_a_game():
    opened, ended = lively("7")[0], lively("7")[-1]
    now = [1_800_000_000.0]
    console = Console(file=io.StringIO(), width=100, height=30)

    def shown(*records: Recorded, later: float = 0.0) -> str:
        view = LiveView(console, clock=lambda: now[0])
        for each in records:
            view.see(each)
        now[0] += later
        with console.capture() as captured:
            console.print(view._frame())
        return captured.get().splitlines()[0].split()[-1]

    assert shown(opened, ended) == clock_of(ended.time)
    now[0] = opened.event.started
    assert shown(opened, later=95) == "1:35"
    assert [clock_of(seconds) for seconds in (-1, 7.9, 750, 3723)] == ["0:00", "0:07", "12:30", "1:02:03"]
