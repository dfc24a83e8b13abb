"""One game's file, whatever became of the process that wrote it, and of the bus."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from analytics.archive.record import GameArchive
from analytics.fold import fold
from analytics.rows import GameRows
from tests.services.fed import Record
from wolfbus.errors import RecordError
from wolfbus.record.reader import read_record


@pytest.fixture(scope="module")
def record(records: list[Record]) -> Record:
    return records[0]


def rows_of(record: Record) -> GameRows:
    game = None
    for one in read_record(record.lines):
        game = one
    assert game is not None
    rows = fold(one.event for one in read_record(record.lines))
    return GameRows(**{**{name: getattr(rows, name) for name in rows.__slots__}, "seconds": game.time})


def path_of(folder: Path, record: Record) -> Path:
    return folder / f"{record.game}.ndjson"


def test_a_file_left_after_any_line_is_gone_on_with_and_ends_up_the_same(record: Record, tmp_path: Path) -> None:
    path, whole, rows = path_of(tmp_path, record), b"".join(record.lines), rows_of(record)
    for kept in range(0, len(record) + 1, 17):
        torn = record.lines[kept][: 3 * kept] if kept < len(record) else b""
        path.write_bytes(b"".join(record.lines[:kept]) + torn[:-1])
        archive = GameArchive(tmp_path, record.game)
        assert (archive.lines, archive.head) == (kept, record.heads[kept])
        for start in range(max(kept - 1, 0), len(record), 100):
            assert archive.take(record.entries[start : start + 100]) is None
        archive.finish()
        assert path.read_bytes() == whole
        assert archive.rows() == rows


def test_what_comes_twice_or_late_changes_nothing(record: Record, tmp_path: Path) -> None:
    archive = GameArchive(tmp_path, record.game)
    for start, stop in ((0, 50), (0, 50), (20, 70), (10, 11), (60, 200), (0, 1), (0, len(record)), (5, 9)):
        assert archive.take(record.entries[start:stop]) is None
    assert archive.take([*record.entries[-2:], *record.entries[-2:]]) is None
    archive.close()
    assert path_of(tmp_path, record).read_bytes() == b"".join(record.lines)
    assert archive.rows() == rows_of(record)


def test_a_gap_and_a_line_that_does_not_go_on_are_told_and_nothing_is_written(record: Record, tmp_path: Path) -> None:
    archive = GameArchive(tmp_path, record.game)
    doubt = archive.take([*record.entries[:9], record.entries[10]])
    assert doubt == "entry 11-0: line 11 came where line 10 was expected"
    doubt = archive.take(record.done_anew(5).entries[9:])
    assert doubt is not None
    assert doubt.startswith("entry 10-0: line 10: the hash does not match")
    assert archive.lines == 9
    assert archive.take(record.entries[9:]) is None


def test_a_line_done_anew_takes_the_place_of_the_old_one_and_of_all_behind_it(
    record: Record, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    anew = record.done_anew(since=101)
    archive = GameArchive(tmp_path, record.game)
    archive.take(record.entries[:150])
    # the first of these are known, then the story changes, and changes once more within the batch
    assert archive.take([*anew.entries[80:120], *record.entries[100:130], *anew.entries[100:]]) is None
    archive.finish()
    assert path_of(tmp_path, record).read_bytes() == b"".join(anew.lines)
    assert archive.rows() == rows_of(anew)
    (warning,) = (record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    assert "the bus holds another line 101" in warning
    assert "the last 50 lines here are cut off" in warning


def test_a_damaged_file_is_taken_up_before_the_damage_and_mended_from_the_bus(record: Record, tmp_path: Path) -> None:
    path = path_of(tmp_path, record)
    lines = list(record.lines)
    lines[30] = lines[30].replace(b'"n":31', b'"n":32')
    path.write_bytes(b"".join(lines))
    archive = GameArchive(tmp_path, record.game)
    assert archive.lines == 30
    # nothing is cut off before there is something better
    assert path.read_bytes() == b"".join(lines)
    assert archive.take(record.entries[29:]) is None
    archive.finish()
    assert path.read_bytes() == b"".join(record.lines)


def test_a_file_that_is_no_record_of_this_game_is_left_alone(records: list[Record], tmp_path: Path) -> None:
    first, second = records
    path = path_of(tmp_path, first)
    for content, reason in (
        (b"shopping list\n", "not a wolfbus record"),
        (second.path.read_bytes(), f"holds the record of game {second.game}"),
        (b"x" * (2 << 20), "longer than 1 MiB"),
    ):
        path.write_bytes(content)
        with pytest.raises(RecordError, match=rf"^{path}: .*{reason}.*; it is left alone$"):
            GameArchive(tmp_path, first.game)
        assert path.read_bytes() == content


def test_an_empty_file_and_half_a_first_line_are_the_beginning_of_a_record(record: Record, tmp_path: Path) -> None:
    for content in (b"", record.lines[0][:40]):
        path_of(tmp_path, record).write_bytes(content)
        archive = GameArchive(tmp_path, record.game)
        assert archive.take(record.entries) is None
        archive.finish()
        assert path_of(tmp_path, record).read_bytes() == b"".join(record.lines)


def test_a_line_on_disk_holds_no_version_but_the_first(record: Record, tmp_path: Path) -> None:
    archive = GameArchive(tmp_path, record.game)
    archive.take(record.entries[:20])
    archive.close()
    versions = [json.loads(line).get("v") for line in path_of(tmp_path, record).read_bytes().splitlines()]
    assert versions == [1, *[None] * 19]
