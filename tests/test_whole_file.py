"""Files that are written whole or not at all."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from wolfbus.whole_file import OWNER, write_whole


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
