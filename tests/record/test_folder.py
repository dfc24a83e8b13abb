"""Where records go is tried before anything is played for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from wolfbus.cli import run
from wolfbus.errors import RecordError
from wolfbus.record.writer import prepare_folder


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
