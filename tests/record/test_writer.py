from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.record import synthetic
from wolfbus.cli import run
from wolfbus.errors import RecordError
from wolfbus.record import writer
from wolfbus.record.reader import open_lines, read_record
from wolfbus.record.writer import RecordFile, prepare_folder

LINES = [line[:-1] for line in synthetic.record(synthetic.small_game())]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "records" / "today" / "game.ndjson"


def test_what_is_written_is_read_back(path: Path) -> None:
    with RecordFile(path) as file:
        file.write(LINES[:1])
        file.write(LINES[1:5])
        file.sync()
        file.write([])
        file.write(iter(LINES[5:]))
    assert list(open_lines(path)) == [line + b"\n" for line in LINES]
    assert read_record(open_lines(path)).problems == []


def test_folders_are_created(path: Path) -> None:
    assert not path.parent.exists()
    RecordFile(str(path)).close()
    assert path.read_bytes() == b""


def test_every_step_is_in_the_file_before_the_call_returns(path: Path) -> None:
    with RecordFile(path) as file:
        for count in range(1, len(LINES) + 1):
            file.write(LINES[count - 1 : count])
            assert path.read_bytes().count(b"\n") == count


def test_a_step_of_many_lines_is_one_write(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writes: list[int] = []
    real = os.write

    def write(fd: int, data: bytes) -> int:
        writes.append(len(data))
        return real(fd, data)

    with RecordFile(path) as file:
        monkeypatch.setattr(writer.os, "write", write)
        file.write(LINES)
    assert writes == [path.stat().st_size]


def test_an_existing_record_is_never_overwritten(path: Path) -> None:
    with RecordFile(path) as file:
        file.write(LINES[:1])
    with pytest.raises(RecordError) as caught:
        RecordFile(path)
    assert str(caught.value) == f"{path}: exists already; no record is ever overwritten"
    assert path.read_bytes() == LINES[0] + b"\n"


def test_a_link_to_nowhere_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "link.ndjson"
    link.symlink_to(tmp_path / "elsewhere.ndjson")
    with pytest.raises(RecordError, match="exists already"):
        RecordFile(link)


def test_a_folder_that_cannot_be_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for parent in (tmp_path / "file", tmp_path / "file" / "deeper"):
        with pytest.raises(RecordError) as caught:
            RecordFile(parent / "game.ndjson")
        assert str(caught.value) == f"{parent / 'game.ndjson'}: cannot create {parent}: that is no folder"


def test_a_file_that_cannot_be_created_is_named() -> None:
    with pytest.raises(RecordError, match=r"^/proc/game\.ndjson: cannot be created: "):
        RecordFile("/proc/game.ndjson")
    with pytest.raises(RecordError, match=r"cannot be created: file name too long$"):
        RecordFile("x" * 300)


FULL_DISK = """
import resource, sys
from wolfbus.cli import run
from wolfbus.errors import RecordError
from wolfbus.record.writer import RecordFile, prepare_folder
file = RecordFile(sys.argv[1])
file.write([b"a" * 99, b"b" * 99])
resource.setrlimit(resource.RLIMIT_FSIZE, (250, resource.RLIM_INFINITY))
for step in ([b"c" * 99], [b"d"]):
    try:
        file.write(step)
    except RecordError as error:
        print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
try:
    file.write([b"e"])
except RecordError as error:
    print(error)
file.close()
"""


def test_a_step_that_does_not_fit_is_taken_back_and_no_later_one_is_written(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", FULL_DISK, path], capture_output=True, text=True, check=True)
    assert done.stdout == f"{path}: cannot be written: file too large\n" * 3
    assert done.stderr == ""
    assert path.read_bytes() == b"a" * 99 + b"\n" + b"b" * 99 + b"\n"


def test_a_full_disk_is_named_and_nothing_of_the_step_stays(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def write(fd: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(fd, data[:-50])

    with RecordFile(path) as file:
        file.write(LINES[:1])
        monkeypatch.setattr(writer.os, "write", write)
        with pytest.raises(RecordError) as caught:
            file.write(LINES[1:3])
        assert str(caught.value) == f"{path}: cannot be written: no space left on device"
        monkeypatch.undo()
        with pytest.raises(RecordError, match="no space left on device"):
            file.sync()
    assert path.read_bytes() == LINES[0] + b"\n"


def test_a_cut_that_cannot_be_taken_back_is_said(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with RecordFile(path) as file:
        monkeypatch.setattr(writer.os, "write", fail)
        monkeypatch.setattr(writer.os, "ftruncate", fail)
        with pytest.raises(RecordError, match=r"cannot be written: input/output error; its last line may be cut off$"):
            file.write(LINES)


def test_a_disk_that_fails_to_sync_is_named_and_the_file_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    file = RecordFile(path)
    file.write(LINES[:1])
    monkeypatch.setattr(writer, "_sync", fail)
    with pytest.raises(RecordError, match="cannot be brought to the disk: input/output error"):
        file.close()
    file.close()


def test_a_closed_file_takes_no_more(path: Path) -> None:
    file = RecordFile(path)
    file.close()
    file.close()
    with pytest.raises(RecordError, match="closed already"):
        file.write(LINES[:1])
    with pytest.raises(RecordError, match="closed already"):
        file.sync()


KILLED = """
import os, signal, sys
from tests.record import synthetic
from wolfbus.record.writer import RecordFile, prepare_folder
file = RecordFile(sys.argv[1])
for line in synthetic.record(synthetic.small_game())[:9]:
    file.write([line[:-1]])
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_no_step_it_had_written(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, path], check=False)
    assert done.returncode == -signal.SIGKILL
    reader = read_record(open_lines(path))
    assert len(list(reader)) == 9
    assert not reader.ended


def test_a_record_is_gone_on_with_behind_any_of_its_lines(path: Path) -> None:
    RecordFile(path).close()
    for kept in range(len(LINES) + 1):
        path.write_bytes(b"".join(line + b"\n" for line in LINES))
        with RecordFile.resume(path, kept) as file:
            assert path.read_bytes() == b"".join(line + b"\n" for line in LINES[:kept])
            file.write(LINES[kept:])
            file.sync()
        assert list(open_lines(path)) == [line + b"\n" for line in LINES]


def test_what_a_power_cut_left_of_a_line_goes(path: Path) -> None:
    with RecordFile(path) as file:
        file.write(LINES[:3])
    with path.open("ab") as torn:
        torn.write(LINES[3][:20])
    with RecordFile.resume(str(path), 3) as file:
        file.write(LINES[3:])
    assert list(open_lines(path)) == [line + b"\n" for line in LINES]


def test_lines_are_counted_over_more_than_one_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_PIECE", 7)
    with RecordFile(path) as file:
        file.write([b"", b"123456", b"", b"12345678901234567890", b"last"])
    for kept, size in ((5, 35), (4, 30), (3, 9), (2, 8), (1, 1), (0, 0)):
        RecordFile.resume(path, kept).close()
        assert path.stat().st_size == size


def test_a_record_that_cannot_be_gone_on_with_is_named_and_left_as_it_is(path: Path) -> None:
    with pytest.raises(RecordError) as caught:
        RecordFile.resume(path, 0)
    assert str(caught.value) == f"{path}: cannot be continued: no such file or directory"
    with RecordFile(path) as file:
        file.write(LINES[:2])
    with path.open("ab") as torn:
        torn.write(b"half a line")
    before = path.read_bytes()
    for kept, there in ((3, "2 whole lines, not 3"), (4, "2 whole lines, not 4")):
        with pytest.raises(RecordError) as caught:
            RecordFile.resume(path, kept)
        assert str(caught.value) == f"{path}: cannot be continued: it has {there}"
    with pytest.raises(RecordError, match=r"cannot be continued: is a directory$"):
        RecordFile.resume(path.parent, 0)
    with pytest.raises(RecordError, match=r"^/dev/full: cannot be continued: that is no ordinary file$"):
        RecordFile.resume("/dev/full", 1)
    assert path.read_bytes() == before


def test_a_step_that_does_not_fit_behind_a_resumed_record_is_taken_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with RecordFile(path) as file:
        file.write(LINES[:2])
    real = os.write

    def write(fd: int, data: bytes) -> int:
        if len(data) < 30:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(fd, data[:30])

    with RecordFile.resume(path, 2) as file:
        monkeypatch.setattr(writer.os, "write", write)
        with pytest.raises(RecordError, match="no space left on device"):
            file.write(LINES[2:4])
    assert path.read_bytes() == LINES[0] + b"\n" + LINES[1] + b"\n"


def test_a_folder_that_is_missing_is_made_and_left_empty(tmp_path: Path):
    folder = tmp_path / "a" / "b"
    prepare_folder(folder)
    assert list(folder.iterdir()) == []


def test_a_place_that_can_hold_no_folder_is_named(tmp_path: Path):
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
