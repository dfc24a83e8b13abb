"""A line comes in time, or not at all: pipes, files and real terminals."""

from __future__ import annotations

import os
import pty
import threading
import time
from collections.abc import Iterator

import pytest

from players.human.terminal import LONGEST, Keyboard, TypedLine
from wolfbus.errors import PlayerError

EVER = 30.0


def soon(seconds: float = EVER) -> float:
    return time.monotonic() + seconds


@pytest.fixture
def pipe() -> Iterator[tuple[Keyboard, int]]:
    read_end, write_end = os.pipe()
    keyboard = Keyboard(read_end)
    yield keyboard, write_end
    keyboard.close()
    os.close(read_end)
    os.close(write_end)


@pytest.fixture
def terminal() -> Iterator[tuple[Keyboard, int]]:
    master, slave = pty.openpty()
    keyboard = Keyboard(slave)
    yield keyboard, master
    keyboard.close()
    os.close(slave)
    os.close(master)


def test_lines_come_one_by_one_however_they_are_written(pipe: tuple[Keyboard, int]) -> None:
    keyboard, person = pipe
    os.write(person, "Bram ist’s\n\r\nAn".encode())
    assert keyboard.read_line(soon()) == TypedLine("Bram ist’s")
    assert keyboard.read_line(soon()) == TypedLine("")
    os.write(person, b"a\n")
    assert keyboard.read_line(soon()) == TypedLine("Ana")


def test_a_half_typed_line_is_dropped_with_its_rest_when_the_time_is_up(pipe: tuple[Keyboard, int]) -> None:
    keyboard, person = pipe
    os.write(person, b"Br")
    assert keyboard.read_line(soon(0.02)) == "late"
    os.write(person, b"am\nAna\n")
    assert keyboard.read_line(soon()) == TypedLine("Ana")


def test_a_line_that_never_ends_is_dropped(pipe: tuple[Keyboard, int]) -> None:
    keyboard, person = pipe
    writer = threading.Thread(target=lambda: os.write(person, b"x" * (3 * LONGEST) + b"\nAna\n"))
    writer.start()
    assert keyboard.read_line(soon()) == "long"
    assert keyboard.read_line(soon()) == TypedLine("Ana")
    writer.join()


def test_the_end_of_the_input_is_for_good_and_its_last_line_counts() -> None:
    read_end, write_end = os.pipe()
    os.write(write_end, b"Ana\nBram")
    os.close(write_end)
    keyboard = Keyboard(read_end)
    assert [keyboard.read_line(soon()) for _ in range(4)] == [TypedLine("Ana"), TypedLine("Bram"), "gone", "gone"]
    keyboard.close()
    os.close(read_end)


def test_closing_wakes_up_who_waits(pipe: tuple[Keyboard, int]) -> None:
    keyboard, _ = pipe
    got: list[object] = []
    waits = threading.Thread(target=lambda: got.append(keyboard.read_line(soon())))
    waits.start()
    keyboard.close()
    waits.join(10)
    assert got == ["closed"]
    assert keyboard.read_line(soon()) == "closed"


def test_at_a_terminal_control_d_leaves_out_one_answer_only(terminal: tuple[Keyboard, int]) -> None:
    keyboard, person = terminal
    os.write(person, b"\x04")
    assert keyboard.read_line(soon()) == "left out"
    os.write(person, b"Ana\n")
    assert keyboard.read_line(soon()) == TypedLine("Ana")


def test_at_a_terminal_a_half_typed_line_is_dropped_and_so_is_what_came_unasked(terminal: tuple[Keyboard, int]) -> None:
    keyboard, person = terminal
    os.write(person, b"Br")
    assert keyboard.read_line(soon(0.02)) == "late"
    os.write(person, b"Ana\n")
    assert keyboard.read_line(soon()) == TypedLine("Ana")
    os.write(person, b"too early\n")
    keyboard.freshen()
    os.write(person, b"Bram\n")
    assert keyboard.read_line(soon()) == TypedLine("Bram")


def test_nobody_plays_without_a_keyboard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(PlayerError, match="no standard input"):
        Keyboard()
    with pytest.raises(PlayerError, match="without a keyboard"):
        Keyboard(10_000)
