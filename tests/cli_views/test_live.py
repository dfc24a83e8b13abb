"""The live view fits every terminal, whatever is said, and can be fed from any thread."""

from __future__ import annotations

import io
import math
import random
import re
import threading
import time
from collections.abc import Iterator

import pytest
from rich.cells import cell_len
from rich.console import Console, Group

from tests.cli_views.games import SEEDS, hostile, lively, recorded
from tests.cli_views.test_state import state_of
from tests.game.driver import play
from wolfbus.cli.terminal.live import LiveView, clock_of, frame
from wolfbus.cli.terminal.panels import hundredths, matrix
from wolfbus.cli.terminal.playback import play_back
from wolfbus.config import GameConfig
from wolfbus.errors import RecordError
from wolfbus.messages.events import Ended, Opened, Rejected
from wolfbus.record.line import Recorded
from wolfbus.state import GameState

SIZES = [(80, 24), (100, 30), (120, 40), (140, 45), (160, 50), (200, 60)]
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])[0-9;]*m")


def drawn(state: GameState, width: int, height: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, height=height, color_system=None)
    console.print(Group(*frame(state, console, width, height, 754.2)))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def assert_it_fits(state: GameState, width: int, height: int) -> None:
    lines = drawn(state, width, height)
    assert len(lines) <= height
    assert max(map(cell_len, lines)) <= width


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", SEEDS)
def test_every_line_fits_at_any_point_of_a_game(seed: str, size: tuple[int, int]):
    for records in (lively(seed), hostile(seed)):
        state = GameState()
        for number, each in enumerate(records):
            state.feed(each.event)
            if number % 60 == 0:
                assert_it_fits(state, *size)
        assert_it_fits(state, *size)


def test_the_smallest_windows_are_no_reason_to_fail():
    for records in (lively("1"), hostile("1"), []):
        state = state_of(records)
        for width in (1, 5, 12, 20, 33, 40, 71, 72):
            for height in (1, 2, 3, 5, 9, 30):
                assert_it_fits(state, width, height)


def test_sixteen_players_fit_and_have_their_matrix_where_there_is_room():
    config = GameConfig(villagers=11, werewolves=3, seers=1, doctors=1)
    state = state_of(recorded(play(config, "3").events))
    for size in SIZES:
        assert_it_fits(state, *size)
    assert any("Suspicion" in line for line in drawn(state, 160, 50))


def test_a_small_terminal_shows_players_and_debate_and_a_large_one_everything():
    state = state_of(lively("7"))
    small, large = "\n".join(drawn(state, 80, 24)), "\n".join(drawn(state, 120, 40))
    for word in ("Players", "Transcript", "Round" if state.ended is None else "win"):
        assert word in small
    assert "Suspicion of the row" not in small
    for word in ("Players", "Transcript", "Suspicion of the row", f"Vote {state.round}", "Night", "hunted", "12:34"):
        assert word in large
    for name in state.seats:
        assert name in large


def test_nothing_in_a_name_or_a_statement_is_taken_for_markup():
    records = hostile("1")
    shown = "\n".join("\n".join(drawn(state_of(records, until), 160, 50)) for until in range(50, len(records), 25))
    assert "[red]Ada[b]" in shown
    assert "[bold red]markup[/]" in shown
    assert "\x1b" not in shown
    assert "\x9b" not in shown


def test_the_matrix_shows_two_digits_for_every_judged_pair():
    state = state_of(lively("7"))
    rows = [line.plain for line in matrix(state, 60)[2:]]
    for observer, row in zip(state.seats, rows, strict=True):
        judged = [target for target in state.seats if state.suspicion.judged(observer, target)]
        assert re.findall(r"\b\d\d\b", row) == [hundredths(state.suspicion.of(observer, target)) for target in judged]
    assert hundredths(1.0) == "99"
    assert hundredths(0.0) == "00"


def test_a_record_with_holes_can_still_be_drawn():
    draws = random.Random(5)
    for _ in range(10):
        events = [each.event for each in lively("7") if draws.random() < 0.5]
        draws.shuffle(events)
        state = GameState()
        for event in events:
            state.feed(event)
        assert_it_fits(state, 120, 40)


def test_who_is_waited_for_and_what_was_rejected_is_told():
    state = state_of(lively("1"), 2)
    state.feed(Rejected(sender="a", reason="closed", size=1, note="closed"))
    state.feed(Rejected(sender="a", reason="sender", size=1, note="sender"))
    assert re.search(r"waiting for .* · 1 answer came too late · 1 message rejected", "\n".join(drawn(state, 120, 40)))


class Screen(io.StringIO):
    """A terminal that tells when certain words have been drawn."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.drawn = threading.Event()
        self._words = words

    def write(self, text: str) -> int:
        if self._words in text:
            self.drawn.set()
        return super().write(text)


def terminal(file: io.StringIO, **options) -> Console:
    return Console(file=file, width=100, height=30, force_terminal=True, color_system="truecolor", **options)


def test_events_from_another_thread_are_drawn_while_the_game_goes_on():
    screen = Screen("Transcript")
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


def test_there_is_colour_on_a_terminal_and_none_under_no_color(monkeypatch: pytest.MonkeyPatch):
    shown = {}
    for no_color in (False, True):
        if no_color:
            monkeypatch.setenv("NO_COLOR", "1")
        else:
            monkeypatch.delenv("NO_COLOR", raising=False)
        screen = io.StringIO()
        with LiveView(terminal(screen)) as view:
            for each in lively("7"):
                view.see(each)
        shown[no_color] = COLOUR.search(screen.getvalue()) is not None
    assert shown == {False: True, True: False}


def test_what_is_no_terminal_gets_the_last_frame_and_nothing_else():
    file = io.StringIO()
    with LiveView(Console(file=file, width=100, height=30)) as view:
        for each in lively("7"):
            view.see(each)
    assert "\x1b" not in file.getvalue()
    assert file.getvalue().count("Transcript") == 1
    assert len(file.getvalue().splitlines()) <= 29


def elapsed_shown(view: LiveView, console: Console) -> str:
    with console.capture() as captured:
        console.print(view._frame())
    return captured.get().splitlines()[0].split()[-1]


def test_the_clock_goes_by_the_record_in_a_replay_and_by_the_wall_in_a_game():
    records = [each for each in lively("7") if isinstance(each.event, Opened | Ended)]
    now = 1_800_000_000.0
    console = Console(file=io.StringIO(), width=100, height=30)
    replay = LiveView(console, clock=lambda: now)
    for each in records:
        replay.see(each)
    assert elapsed_shown(replay, console) == clock_of(records[1].time)

    opened = records[0].event
    assert isinstance(opened, Opened)
    now = opened.started
    game = LiveView(console, clock=lambda: now)
    game.see(records[0])
    now += 95
    assert elapsed_shown(game, console) == "1:35"


def test_durations_are_shown_as_on_a_clock():
    assert [clock_of(seconds) for seconds in (-1, 7.9, 750, 3723)] == ["0:00", "0:07", "12:30", "1:02:03"]
