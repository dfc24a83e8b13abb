"""One game's file, whatever became of the process that wrote it, and of the bus."""

from __future__ import annotations

import json
import logging
from dataclasses import replace

import pytest

from analytics.archive.record import GameArchive
from analytics.fold import fold
from wolfbus.errors import RecordError
from wolfbus.record.reader import read_record


@pytest.fixture
def record(records):
    return records[0]


@pytest.fixture
def path(record, tmp_path):
    return tmp_path / f"{record.game}.ndjson"


def assert_whole(archive, path, record):
    assert path.read_bytes() == b"".join(record.lines)
    *_, last = read_record(record.lines)
    rows = fold(one.event for one in read_record(record.lines))
    assert archive.rows() == replace(rows, seconds=last.time)


def test_a_file_left_after_any_line_is_gone_on_with_and_ends_up_the_same(record, path):
    for kept in range(0, len(record) + 1, 17):
        torn = record.lines[kept][: 3 * kept] if kept < len(record) else b""
        path.write_bytes(b"".join(record.lines[:kept]) + torn[:-1])
        archive = GameArchive(path.parent, record.game)
        assert (archive.lines, archive.head) == (kept, record.heads[kept])
        for start in range(max(kept - 1, 0), len(record), 100):
            assert archive.take(record.entries[start : start + 100]) is None
        archive.finish()
        assert_whole(archive, path, record)


def test_what_comes_twice_or_late_changes_nothing(record, path):
    archive = GameArchive(path.parent, record.game)
    for start, stop in ((0, 50), (0, 50), (20, 70), (10, 11), (60, 200), (0, 1), (0, len(record)), (5, 9)):
        assert archive.take(record.entries[start:stop]) is None
    assert archive.take([*record.entries[-2:], *record.entries[-2:]]) is None
    archive.close()
    assert_whole(archive, path, record)


def test_a_gap_and_a_line_that_does_not_go_on_are_told_and_nothing_is_written(record, path):
    archive = GameArchive(path.parent, record.game)
    doubt = archive.take([*record.entries[:9], record.entries[10]])
    assert doubt == "entry 11-0: line 11 came where line 10 was expected"
    doubt = archive.take(record.done_anew(5).entries[9:])
    assert doubt.startswith("entry 10-0: line 10: the hash does not match")
    assert archive.lines == 9
    assert archive.take(record.entries[9:]) is None


def test_a_line_done_anew_takes_the_place_of_the_old_one_and_of_all_behind_it(record, path, caplog):
    anew = record.done_anew(since=101)
    archive = GameArchive(path.parent, record.game)
    archive.take(record.entries[:150])
    # the first of these are known, then the story changes, and changes once more within the batch
    assert archive.take([*anew.entries[80:120], *record.entries[100:130], *anew.entries[100:]]) is None
    archive.finish()
    assert_whole(archive, path, anew)
    (warning,) = (record.getMessage() for record in caplog.records if record.levelno == logging.WARNING)
    assert "the bus holds another line 101" in warning
    assert "the last 50 lines here are cut off" in warning


def damaged(record):
    return [*record.lines[:30], record.lines[30].replace(b'"n":31', b'"n":32'), *record.lines[31:]]


@pytest.mark.parametrize(
    ("there", "kept"),
    [(lambda _: b"", 0), (lambda record: record.lines[0][:40], 0), (lambda record: b"".join(damaged(record)), 30)],
    ids=["empty", "half a line", "damaged"],
)
def test_a_file_is_taken_up_before_its_damage_and_mended_from_the_bus(record, path, there, kept):
    path.write_bytes(there(record))
    archive = GameArchive(path.parent, record.game)
    assert archive.lines == kept
    # nothing is cut off before there is something better
    assert path.read_bytes() == there(record)
    assert archive.take(record.entries[max(kept - 1, 0) :]) is None
    archive.finish()
    assert_whole(archive, path, record)
    assert [json.loads(line).get("v") for line in path.read_bytes().splitlines()] == [1, *[None] * (len(record) - 1)]


def test_a_file_that_is_no_record_of_this_game_is_left_alone(records, path):
    first, second = records
    for content, reason in (
        (b"shopping list\n", "not a wolfbus record"),
        (second.path.read_bytes(), f"holds the record of game {second.game}"),
        (b"x" * (2 << 20), "longer than 1 MiB"),
    ):
        path.write_bytes(content)
        with pytest.raises(RecordError, match=rf"^{path}: .*{reason}.*; it is left alone$"):
            GameArchive(path.parent, first.game)
        assert path.read_bytes() == content
