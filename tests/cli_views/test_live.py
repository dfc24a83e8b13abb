"""The live view fits every terminal, shows what there is room for, and can be fed from any thread."""

import contextlib
import math
import re
import threading
import time
from collections.abc import Iterator

import pytest

from tests.cli_views.games import at_terminal, drawn, hostile, lively, names_in, recorded, suspicion_of
from tests.game.driver import play
from wolfbus.cli.terminal.playback import play_back
from wolfbus.errors import RecordError
from wolfbus.game.config import GameConfig
from wolfbus.messages.events import Rejected
from wolfbus.record.line import Recorded

SIZES = [(80, 24), (100, 30), (120, 40), (140, 45), (160, 50), (200, 60)]
SMALLEST = [(width, height) for width in (1, 5, 12, 20, 33, 40, 71, 72) for height in (1, 2, 3, 5, 9, 30)]
COLOUR = re.compile(r"\x1b\[[0-9;]*(?:3[0-9]|4[0-9]|9[0-7]|10[0-7])[0-9;]*m")
ABLE = {"TERM": "xterm-256color"}


def test_every_line_fits_at_any_point_of_a_game_and_in_any_window():
    for records in (lively("23"), hostile("23")):
        for until in range(0, len(records), 120):
            for size in SIZES:
                drawn(records[:until], *size)
        for size in (*SIZES, *SMALLEST):
            drawn(records, *size)


def test_sixteen_players_fit_and_have_their_matrix_where_there_is_room():
    config = GameConfig(villagers=11, werewolves=3, seers=1, doctors=1)
    game = recorded(play(config, "3").events)
    frames = [drawn(game, *size) for size in SIZES]
    assert any("Suspicion" in line for line in frames[-2])


def test_a_small_terminal_shows_players_and_debate_and_a_large_one_everything():
    small, large = "\n".join(drawn(lively("7"), 80, 24)), "\n".join(drawn(lively("7"), 140, 45))
    common = ("Players", "Transcript", "win")
    assert [word for word in common if word not in small] == []
    assert "Suspicion of the row" not in small
    rounds = lively("7")[-1].event.rounds
    more = ("Suspicion of the row", f"Vote {rounds}", "Night", "hunted", *names_in(lively("7")))
    assert [word for word in (*common, *more) if word not in large] == []


def test_the_matrix_shows_two_digits_for_every_judged_pair():
    names, suspicion = names_in(lively("7")), suspicion_of(lively("7"))
    frame = drawn(lively("7"), 200, 60)
    head = next(number for number, line in enumerate(frame) if "Suspicion of the row" in line)
    start = frame[head].index("Suspicion of the row")
    for observer, line in zip(names, frame[head + 2 :], strict=False):
        judged = [target for target in names if (observer, target) in suspicion]
        row = line[start : start + 14 + 4 * len(names)]
        assert row.startswith(observer)
        met = [f"{min(99, round(100 * suspicion[observer, target])):02d}" for target in judged]
        assert re.findall(r"\b\d\d\b", row) == met


def test_who_is_waited_for_and_what_was_rejected_is_told():
    rejected = [Rejected(sender="a", reason=reason, size=1, note=reason) for reason in ("closed", "sender")]
    frame = drawn(recorded([*(entry.event for entry in lively("1")[:2]), *rejected]))
    assert re.search(r"waiting for .* · 1 answer came too late · 1 message rejected", "\n".join(frame))


def test_a_statement_is_being_judged_until_all_have_answered():
    records = lively("7")
    index = next(at for at, entry in enumerate(records, 1) if entry.event.type == "statement")
    assert "being judged…" in "\n".join(drawn(records[:index]))
    assert "being judged" not in "\n".join(drawn(records))


def test_events_from_another_thread_are_drawn_while_the_game_goes_on():
    began = time.monotonic()
    with at_terminal(100, 30, **ABLE) as (terminal, display):
        feeder = threading.Thread(target=lambda: [display.show(entry) for entry in lively("7")])
        feeder.start()
        while "Transcript" not in terminal.getvalue():
            assert time.monotonic() - began < 20
            threading.Event().wait(0.01)
        feeder.join()
        frames = terminal.getvalue().count("\x1b[H")
        assert frames <= 8 * (time.monotonic() - began) + 3
    _, _, after = terminal.getvalue().rpartition("\x1b[?1049l")
    assert re.search(r"(win|wins) after \d+ rounds", after)
    assert "Transcript" in after
    assert all(thread.name != "live-view" for thread in threading.enumerate())


def broken() -> Iterator[Recorded]:
    yield lively("7")[0]
    raise RecordError("the hash does not match", 2)


def test_the_screen_is_given_back_when_something_fails():
    showing = contextlib.ExitStack()
    terminal, display = showing.enter_context(at_terminal(100, 30, **ABLE))
    with pytest.raises(RecordError), showing:
        play_back(broken(), display.show, math.inf)
    sent = terminal.getvalue()
    assert sent.count("\x1b[?1049h") == sent.count("\x1b[?1049l") == 1
    assert "\x1b[?25h" in sent


@pytest.mark.parametrize(
    ("environment", "coloured"), [(ABLE, True), ({**ABLE, "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_there_is_colour_where_it_is_wanted_and_a_terminal_that_can_do_nothing_gets_the_last_frame(
    environment, coloured
):
    with at_terminal(100, 30, **environment) as (terminal, display):
        for entry in lively("7"):
            display.show(entry)
    sent = terminal.getvalue()
    assert (COLOUR.search(sent) is not None) == coloured
    if environment["TERM"] == "dumb":
        assert "\x1b" not in sent
        assert sent.count("Transcript") == 1


def test_the_clock_goes_by_the_record_in_a_replay_and_by_the_wall_in_a_game():
    opened, ended = lively("7")[0], lively("7")[-1]

    def clock(*records: Recorded) -> str:
        return drawn(records, 100, 30)[0].split()[-1]

    for seconds, expected in ((-1, "0:00"), (7.9, "0:07"), (750, "12:30"), (3723, "1:02:03")):
        assert clock(opened, ended._replace(time=seconds)) == expected
    now = opened.event.model_copy(update={"started": time.time() - 25})
    assert re.fullmatch("0:2[5-9]", clock(opened._replace(event=now)))
