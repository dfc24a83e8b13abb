"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from wolfbus.cli import run
from wolfbus.errors import ConfigError
from wolfbus.whole_file import OWNER, read_text_whole, read_whole, write_whole


def test_a_file_is_replaced_by_a_whole_one_with_line_ends_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    write_whole(path, ["né\r\n", "w\n"])
    assert path.read_bytes() == "né\r\nw\n".encode()
    assert list(tmp_path.iterdir()) == [path]


def test_what_breaks_off_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")

    def breaks(error: BaseException) -> Iterator[str]:
        yield "half"
        raise error

    for error in (KeyboardInterrupt(), ValueError(), OSError(28, "No space left on device")):
        with pytest.raises(type(error)):
            write_whole(path, breaks(error))
        assert path.read_text() == "old"
        assert list(tmp_path.iterdir()) == [path]


def test_an_error_names_the_file_not_the_one_beside_it(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file") as caught:
        write_whole(tmp_path / "nowhere" / "a", ["x"])
    assert caught.value.filename == str(tmp_path / "nowhere" / "a")


def test_a_secret_is_its_owners_from_the_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "a"

    def watched() -> Iterator[str]:
        (aside,) = tmp_path.iterdir()
        assert stat.S_IMODE(aside.stat().st_mode) == 0o600
        yield "secret"

    write_whole(path, watched(), mode=OWNER)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_long_name_has_room_for_what_is_written_beside_it(tmp_path: Path) -> None:
    path = tmp_path / ("é" * 127)
    write_whole(path, ["x"])
    assert path.read_text() == "x"


def test_a_file_is_read_whole_up_to_its_limit_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x" * 2048)
    assert read_whole(path, 2048) == b"x" * 2048
    with pytest.raises(ConfigError, match=r"/a: too large: more than 1 KiB$"):
        read_whole(path, 1024)


def test_a_file_that_does_not_tell_its_size_is_read_all_the_same() -> None:
    assert read_whole(Path("/proc/self/stat"), 1 << 16).startswith(str(os.getpid()).encode())
    with pytest.raises(ConfigError, match="too large"):
        read_whole(Path("/proc/self/stat"), 16)


def test_text_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match=r"/a: not UTF-8 text$"):
        read_text_whole(tmp_path / "a", 10)


COMMANDS = [
    ["play", "--config", "{}"],
    ["replay", "x.ndjson", "--map", "{}"],
    ["rules", "--config", "{}"],
    ["run", "{}"],
    ["run", "--config", "{}"],
    ["tickets", "list", "--bus", "@{}"],
    ["moderator", "--config", "{}"],
    ["player", "--config", "{}"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", ["pipe", "device", "large", "folder", "missing"])
def test_what_is_no_file_of_a_sensible_size_is_refused_at_once_in_one_line(
    words: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, said = tmp_path / "named", {"pipe": "not a file but a pipe", "device": "not a file but a device",
                                      "large": "too large", "folder": "is a directory",
                                      "missing": "no such file or directory"}  # fmt: skip
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif kind == "large":
        with path.open("wb") as file:
            file.truncate(100_000_000)
    assert run([word.format(path) for word in words]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"{path}: {said[kind]}" in err


def closed(numbers: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command with some of the three standard streams closed."""
    shut = " ".join(f"{number}>&-" for number in numbers)
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {shut}', "sh", sys.executable, "-m", "wolfbus", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_without_stdout_a_command_says_so_in_one_line() -> None:
    told = closed("1", "analytics")
    assert (told.returncode, told.stderr.count("\n")) == (1, 1)
    assert told.stderr.startswith("wolfbus: stdout is closed")


def test_without_stdin_and_stderr_a_game_is_played_as_ever(tmp_path: Path) -> None:
    told = closed("02", "play", "--seed", "7", "--out", str(tmp_path))
    assert (told.returncode, told.stderr) == (0, "")
    (record,) = tmp_path.glob("*.ndjson")
    assert record.read_bytes().startswith(b'{"')
    assert "8a0aabe20980" in told.stdout
