"""Files that are written whole or not at all, and those that users name, read whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.record import synthetic
from wolfbus.cli import run

LIMIT = 1 << 20
"""Bytes of a settings file."""


@pytest.fixture
def record(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("record") / "game.ndjson"
    path.write_bytes(b"".join(synthetic.record(synthetic.small_game())))
    return str(path)


@pytest.mark.parametrize("name", ["a", "é" * 127], ids=["old", "long"])
def test_a_file_is_replaced_by_a_whole_one(record: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text("old")
    assert run(["page", record, "-o", str(path)]) == 0
    page = path.read_bytes().decode()
    assert page.startswith("<!doctype html>")
    assert " · wolfbus</title>" in page
    assert page.endswith("</html>\n")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("error", "code"), [(KeyboardInterrupt(), 130), (OSError(28, "No space left on device"), 1)], ids=["Ctrl-C", "disk"]
)
def test_what_breaks_off_leaves_the_old_file_and_nothing_else(
    record: str, error: BaseException, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_descriptor: int) -> None:
        assert len(list(tmp_path.iterdir())) == 2
        raise error

    path = tmp_path / "a"
    path.write_text("old")
    monkeypatch.setattr(os, "fsync", breaks)
    assert run(["page", record, "-o", str(path)]) == code
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_names_the_file_not_the_one_beside_it(
    record: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "nowhere" / "a"
    assert run(["page", record, "-o", str(path)]) == 1
    assert capsys.readouterr().err == f"wolfbus: {path}: no such file or directory\n"


def test_a_secret_is_its_owners_from_the_first_byte(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []

    def watched(descriptor: int) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))

    monkeypatch.setattr(os, "fsync", watched)
    words = ("--house", "files", "--out", str(tmp_path), "--agents", "ann", "--keep-default")
    assert run(["tickets", "issue", "--bus", redis_url, *words]) == 0
    assert modes
    assert {*modes, stat.S_IMODE((tmp_path / "ann.ticket").stat().st_mode)} == {0o600}


@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"#" * LIMIT, ""),
        (b"#" * (LIMIT + 1), "too large: more than 1 MiB"),
        (b"\xff", "not UTF-8 text"),
    ],
    ids=["up to its limit", "no further", "no text"],
)
def test_a_file_is_read_whole_up_to_its_limit_as_text(
    content: bytes,
    fault: str,
    sized: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "a"
    path.write_bytes(content)
    if not sized:
        status = os.stat_result([0 if n == stat.ST_SIZE else value for n, value in enumerate(path.stat())])
        monkeypatch.setattr(os, "fstat", lambda _descriptor: status)
    assert run(["rules", "--config", str(path)]) == (2 if fault else 0)
    assert capsys.readouterr().err == (f"wolfbus: {path}: {fault}\n" if fault else "")


def test_a_file_that_does_not_tell_its_size_is_read_all_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert Path("/proc/self/stat").stat().st_size == 0
    assert run(["rules", "--config", "/proc/self/stat"]) == 2
    assert "not TOML: Expected '='" in capsys.readouterr().err


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
    path, refusals = tmp_path / "named", {"pipe": "not a file but a pipe", "device": "not a file but a device",
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
    assert f"{path}: {refusals[kind]}" in err


def closed(numbers: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command with some of the three standard streams closed."""
    shut = " ".join(f"{number}>&-" for number in numbers)
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {shut}', "sh", sys.executable, "-m", "wolfbus", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


def test_without_stdout_a_command_says_so_in_one_line() -> None:
    done = closed("1", "analytics")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("wolfbus: stdout is closed")


def test_without_stdin_and_stderr_a_game_is_played_as_ever(tmp_path: Path) -> None:
    done = closed("02", "play", "--seed", "7", "--out", str(tmp_path))
    assert (done.returncode, done.stderr) == (0, "")
    (record,) = tmp_path.glob("*.ndjson")
    assert record.read_bytes().startswith(b'{"')
    assert "8a0aabe20980" in done.stdout
