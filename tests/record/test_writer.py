"""A record's file: whole steps or none, on the disk when it matters, and never in another's place."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.record import synthetic
from wolfbus.cli import run
from wolfbus.errors import RecordError
from wolfbus.record import writer
from wolfbus.record.reader import open_lines, read_record
from wolfbus.record.writer import RecordFile, prepare_folder

LINES = [line[:-1] for line in synthetic.record(synthetic.small_game())]


def joined(lines: list[bytes]) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def failing(code: int) -> Callable[..., int]:
    def fail(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    return fail


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records" / "today" / "game.ndjson"


def test_each_step_is_one_write_and_in_the_file_before_the_call_returns(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writes: list[int] = []
    real = os.write

    def write(fd: int, data: bytes) -> int:
        writes.append(len(data))
        return real(fd, data)

    with RecordFile(path) as file:
        monkeypatch.setattr(writer.os, "write", write)
        for step in (LINES[:1], LINES[1:5], [], iter(LINES[5:])):
            file.write(step)
            file.sync()
            assert path.stat().st_size == sum(writes)
        assert len(writes) == 3
    assert path.read_bytes() == joined(LINES)
    assert [recorded.event for recorded in read_record(open_lines(path))] == synthetic.small_game()


def test_an_existing_record_is_never_overwritten_nor_a_link_to_nowhere_followed(path: Path, tmp_path: Path) -> None:
    with RecordFile(str(path)) as file:
        file.write(LINES[:1])
    link = tmp_path / "link.ndjson"
    link.symlink_to(tmp_path / "elsewhere.ndjson")
    for there in (path, link):
        with pytest.raises(RecordError) as caught:
            RecordFile(there)
        assert str(caught.value) == f"{there}: exists already; no record is ever overwritten"
    assert path.read_bytes() == joined(LINES[:1])


def test_a_file_or_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for parent in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(RecordError) as caught:
            RecordFile(parent / "game.ndjson")
        assert str(caught.value) == f"{parent / 'game.ndjson'}: cannot create {parent}: that is no folder"
    with pytest.raises(RecordError, match=r"^/proc/game\.ndjson: cannot be created: "):
        RecordFile("/proc/game.ndjson")
    with pytest.raises(RecordError, match=r"cannot be created: file name too long$"):
        RecordFile("x" * 300)


def test_a_step_that_does_not_fit_is_taken_back_and_no_later_one_is_written(path: Path) -> None:
    usual = resource.getrlimit(resource.RLIMIT_FSIZE)
    with RecordFile(path) as file:
        file.write([b"a" * 99, b"b" * 99])
        said = []
        for limit, step in ((250, [b"c" * 99]), (250, [b"d"]), (usual[0], [b"e"])):
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, usual[1]))
            try:
                file.write(step)
            except RecordError as error:
                said.append(str(error))
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, usual)
        assert said == [f"{path}: cannot be written: file too large"] * 3
        with pytest.raises(RecordError, match="file too large"):
            file.sync()
    assert path.read_bytes() == joined([b"a" * 99, b"b" * 99])


@pytest.mark.parametrize("resumed", [False, True])
def test_a_full_disk_is_named_and_nothing_of_the_step_stays(
    resumed: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, left = os.write, [60]

    def write(fd: int, data: bytes) -> int:
        written = real(fd, data[: left[0]])
        left[0] -= written
        return written or failing(errno.ENOSPC)()

    with RecordFile(path) as file:
        file.write(LINES[:1])
        if not resumed:
            monkeypatch.setattr(writer.os, "write", write)
            with pytest.raises(RecordError, match="cannot be written: no space left on device"):
                file.write(LINES[1:3])
    if resumed:
        with RecordFile(path, keep=1) as file:
            monkeypatch.setattr(writer.os, "write", write)
            with pytest.raises(RecordError, match="cannot be written: no space left on device"):
                file.write(LINES[1:3])
    assert path.read_bytes() == joined(LINES[:1])


def test_what_the_disk_refuses_is_named_and_a_closed_file_takes_no_more(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = RecordFile(path)
    file.write(LINES[:1])
    with monkeypatch.context() as broken:
        broken.setattr(writer, "_sync", failing(errno.EIO))
        with pytest.raises(RecordError, match="cannot be brought to the disk: input/output error"):
            file.close()
    file.close()
    file = RecordFile(path.with_name("closed"))
    file.close()
    for act in (lambda: file.write(LINES[:1]), file.sync):
        with pytest.raises(RecordError, match="closed already"):
            act()
    with RecordFile(path.with_name("other")) as file, monkeypatch.context() as broken:
        broken.setattr(writer.os, "write", failing(errno.EIO))
        broken.setattr(writer.os, "ftruncate", failing(errno.EIO))
        with pytest.raises(RecordError, match=r"cannot be written: input/output error; its last line may be cut off$"):
            file.write(LINES)


def test_a_record_is_gone_on_with_behind_any_of_its_lines_and_what_a_power_cut_left_goes(path: Path) -> None:
    RecordFile(path).close()
    for kept in range(len(LINES) + 1):
        path.write_bytes(joined(LINES) + b"half a li")
        with RecordFile(str(path), keep=kept) as file:
            assert path.read_bytes() == joined(LINES[:kept])
            file.write(LINES[kept:])
            file.sync()
        assert path.read_bytes() == joined(LINES)


def test_lines_are_counted_over_more_than_one_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_PIECE", 7)
    with RecordFile(path) as file:
        file.write([b"", b"123456", b"", b"12345678901234567890", b"last"])
    for kept, size in ((5, 35), (4, 30), (3, 9), (2, 8), (1, 1), (0, 0)):
        RecordFile(path, keep=kept).close()
        assert path.stat().st_size == size


def test_a_record_that_cannot_be_gone_on_with_is_named_and_left_as_it_is(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.with_name("two").write_bytes(joined(LINES[:2]) + b"half a line")
    for name, kept, said in (
        ("missing", 0, "no such file or directory"),
        ("two", 3, "it has 2 whole lines, not 3"),
        (".", 0, "is a directory"),
        ("/dev/full", 1, "that is no ordinary file"),
    ):
        with pytest.raises(RecordError) as caught:
            RecordFile(path.with_name("two").parent / name, keep=kept)
        assert str(caught.value) == f"{path.parent / name}: cannot be continued: {said}"
    assert path.with_name("two").read_bytes() == joined(LINES[:2]) + b"half a line"


def test_a_folder_for_records_is_made_and_left_empty_or_the_place_named(tmp_path: Path):
    folder = tmp_path / "a" / "b"
    prepare_folder(folder)
    assert list(folder.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(RecordError, match=r"file/runs: records cannot be kept there: that is no folder"):
        prepare_folder(tmp_path / "file" / "runs")


@pytest.mark.parametrize("command", ["up", "analytics"])
def test_nothing_is_started_for_records_that_cannot_be_kept(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "file").touch()
    assert run([command, "--out", str(tmp_path / "file" / "runs")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
