"""The file of a game that is played: whole steps or none, on the disk when it matters, and never in another's place."""

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from wolfbus.cli import run
from wolfbus.record.reader import RecordReader, open_lines


class Disk:
    """What is done to one file, and what fails of it: a call of the system's by the bytes that may be written first."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = path
        self.written: list[bytes] = []
        self.synced: list[int] = []
        self.fails: dict[str, tuple[int, int]] = {}
        for name in ("write", "fdatasync", "ftruncate"):
            monkeypatch.setattr(os, name, self._watched(name, getattr(os, name)))

    def _watched(self, name: str, real: Callable[..., int | None]) -> Callable[..., int | None]:
        def call(fd: int, *arguments: bytes) -> int | None:
            if Path(f"/proc/self/fd/{fd}").readlink() != self.path:
                return real(fd, *arguments)
            size = self.path.stat().st_size
            code, after = self.fails.get(name, (0, 0))
            if code and size >= after:
                raise OSError(code, os.strerror(code))
            if name == "write":
                self.written.append(bytes(arguments[0]))
                return real(fd, arguments[0][: after - size] if code else arguments[0])
            if name == "fdatasync":
                self.synced.append(size)
            return real(fd, *arguments)

        return call


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path / "records" / "today" / "game.ndjson", monkeypatch)


def play(path: Path) -> int:
    return run(["play", "--seed", "7", "--quiet", "--game", path.stem, "--out", str(path.parent)])


def test_each_step_is_one_write_of_whole_lines_and_each_phase_is_brought_to_the_disk(disk: Disk) -> None:
    assert play(disk.path) == 0
    lines = list(open_lines(disk.path))
    assert b"".join(disk.written) == b"".join(lines)
    assert all(step.endswith(b"\n") for step in disk.written)
    assert len(disk.written) < len(lines)
    assert len(disk.synced) > 4
    assert disk.synced[-1] == disk.path.stat().st_size


@pytest.mark.parametrize(
    ("fails", "reason"),
    [
        ({"write": (errno.ENOSPC, 30_000)}, "cannot be written: no space left on device"),
        ({"write": (errno.EIO, 0)}, "cannot be written: input/output error"),
        ({"fdatasync": (errno.EIO, 30_000)}, "cannot be brought to the disk: input/output error"),
        (
            {"write": (errno.EIO, 30_000), "ftruncate": (errno.EIO, 0)},
            "cannot be written: input/output error; its last line may be cut off",
        ),
    ],
    ids=["full", "broken at once", "broken when synced", "broken for good"],
)
def test_what_the_disk_refuses_is_named_and_of_a_step_that_does_not_fit_nothing_stays(disk, fails, reason, capsys):
    disk.fails = fails
    assert play(disk.path) == 1
    assert f"wolfbus: {disk.path}: {reason}" in capsys.readouterr().err.splitlines()
    left = disk.path.read_bytes()
    assert b"".join(disk.written).startswith(left)
    assert left.endswith(b"\n") == ("ftruncate" not in fails and left != b"")
    reader = RecordReader(open_lines(disk.path), tolerant=True)
    assert len(list(reader)) == left.count(b"\n")


def test_an_existing_record_is_never_overwritten_nor_a_link_to_nowhere_followed(tmp_path, capsys):
    existing, link = tmp_path / "there.ndjson", tmp_path / "link.ndjson"
    existing.write_text("a record")
    link.symlink_to(tmp_path / "elsewhere.ndjson")
    for path in (existing, link):
        assert play(path) == 2
        assert capsys.readouterr().err == f"wolfbus: {path}: exists already; no record is ever overwritten\n"
    assert existing.read_text() == "a record"
    assert not link.exists()
