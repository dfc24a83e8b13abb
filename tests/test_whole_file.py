"""Files that are written whole or not at all, and those that users name, read whole."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
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


def test_writers_of_one_number_on_two_machines_do_not_take_each_others_file(
    record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, see = tmp_path / "a", os.fsync
    codes: list[int] = []

    def another_writes_it(descriptor: int) -> None:
        see(descriptor)
        monkeypatch.setattr(os, "fsync", see)
        codes.append(run(["page", record, "-o", str(path)]))

    monkeypatch.setattr(os, "getpid", lambda: 1)
    monkeypatch.setattr(os, "fsync", another_writes_it)
    codes.append(run(["page", record, "-o", str(path)]))
    assert codes == [0, 0]
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


WRITERS = [
    ["page", "{record}", "-o", "{}"],
    ["compare", "{record}", "{record}", "-o", "{}"],
    ["report", "{record}", "--html", "{}"],
    ["report", "{record}", "--md", "{}"],
    ["report", "{record}", "--findings", "{}"],
    ["tickets", "issue", "--bus", "{redis}", "--house", "written", "--agents", "ann", "--keep-default", "--force",
     "--out", "{folder}", "--aclfile", "{}"],
]  # fmt: skip
"""Commands that write a file which a user names."""


@pytest.fixture
def write(record: str, redis_url: str, tmp_path: Path) -> Callable[[list[str], Path], int]:
    """Runs one of them."""
    values = {"record": record, "redis": redis_url, "folder": str(tmp_path / "tickets")}
    return lambda words, path: run([word.format(path, **values) for word in words])


by_option = pytest.mark.parametrize("words", WRITERS, ids=lambda words: f"{words[0]} {words[-2]}")


@by_option
def test_a_link_that_is_named_stays_and_the_file_behind_it_is_written(
    words: list[str], write: Callable[[list[str], Path], int], tmp_path: Path
) -> None:
    (tmp_path / "behind").mkdir()
    target, middle, link = tmp_path / "behind" / "file", tmp_path / "middle", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(middle)
    middle.symlink_to("behind/file")
    assert write(words, link) == 0
    assert (link.is_symlink(), middle.is_symlink(), target.is_symlink()) == (True, True, False)
    assert target.stat().st_size > 100
    assert list(target.parent.iterdir()) == [target]


def test_a_link_that_leads_to_nothing_yet_is_followed(record: str, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("file")
    assert run(["page", record, "-o", str(link)]) == 0
    assert link.is_symlink()
    assert not (tmp_path / "file").is_symlink()


@by_option
def test_a_pipe_that_is_named_is_written_into(
    words: list[str], write: Callable[[list[str], Path], int], tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as readers:
        read = readers.submit(pipe.read_bytes)
        assert write(words, pipe) == 0
        assert len(read.result(60)) > 100
    assert stat.S_ISFIFO(pipe.stat().st_mode)


@by_option
def test_a_device_that_is_named_is_written_into_and_never_replaced(
    words: list[str], write: Callable[[list[str], Path], int], tmp_path: Path
) -> None:
    # by a link, for who has all rights would have put a file in the place of the device itself
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    assert write(words, link) == 0
    assert link.is_symlink()
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_what_is_written_to_stdout_stands_behind_what_was_there_and_nothing_is_told_among_it(
    record: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    command = f"{sys.executable} -m wolfbus page {record} -o /dev/stdout"
    with out.open("wb") as file:
        file.write(b"before\n")
        file.flush()
        told = subprocess.run(command.split(), stdout=file, stderr=subprocess.PIPE, check=True, timeout=60).stderr
    lines = out.read_text("utf-8").splitlines()
    assert (lines[0], lines[1], lines[-1]) == ("before", "<!doctype html>", "</html>")
    assert told.startswith(b"/dev/stdout  (")


def test_a_page_that_nobody_named_takes_the_place_of_a_link_that_lay_there(
    record: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    treasure = tmp_path / "treasure"
    treasure.write_text("mine")
    for words, name in ((["page", record], "game.html"), (["report", record], "report.html")):
        Path(name).symlink_to(treasure)
        assert run(words) == 0
        assert not Path(name).is_symlink()
    assert treasure.read_text() == "mine"


@pytest.mark.parametrize(
    ("place", "refusal"),
    [("", "is a directory"), ("nowhere/a", "no such file or directory"), ("loop", "too many levels of symbolic links")],
)
def test_what_cannot_be_written_is_refused_in_one_line(
    record: str, place: str, refusal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    assert run(["page", record, "-o", str(tmp_path / place)]) != 0
    assert refusal in capsys.readouterr().err
    assert (tmp_path / "loop").is_symlink()


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


READERS = [
    ["replay", "{}"],
    ["replay", "--calls", "{}"],
    ["page", "{}"],
    ["view", "{}", "--no-open", "--port", "0"],
    ["verify", "{}"],
    ["report", "{}"],
    ["compare", "{}", "{}"],
    ["export", "csv", "{}", "--out", "tables"],
    ["export", "inspect", "{}", "--out", "logs"],
]


@pytest.mark.parametrize("words", READERS, ids=" ".join)
@pytest.mark.parametrize("kind", ["a pipe; save what comes out of it in a file", "a device"])
def test_whatever_reads_a_record_refuses_what_has_no_end_in_the_same_words(
    words: list[str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("/dev/zero")
    if kind != "a device":
        path = tmp_path / "game.ndjson"
        os.mkfifo(path)
    assert run([word.format(path) for word in words]) == 2
    assert capsys.readouterr().err == f"wolfbus: {path}: not a file but {kind}\n"


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
