"""Damaged and unfinished records, full disks, files that are there already."""

import csv
import gc
import resource
import signal

import pytest

from analytics.export import write_csv, write_parquet
from tests.export.records import game, lines_of, write
from wolfbus.errors import ConfigError, RecordError

WRITERS = [pytest.param(write_csv, id="csv"), pytest.param(write_parquet, id="parquet")]
OF_GAMES = ["games", "seats", "statements", "judgements", "votes", "bids", "suspicion"]


@pytest.fixture
def one(tmp_path):
    """A folder with one whole game."""
    write(tmp_path / "in", game("g"))
    return tmp_path / "in"


@pytest.fixture(scope="module")
def four(tmp_path_factory):
    """A folder with four games."""
    folder = tmp_path_factory.mktemp("four")
    opened, *rest = game("g")
    for number in range(4):
        write(folder, [opened.model_copy(update={"game": f"g{number}", "seed": f"s{number}"}), *rest])
    return folder


def table(folder, name):
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def problem_of(folder, tmp_path):
    exported = write_csv([folder], tmp_path / "out", tables=OF_GAMES)
    (row,) = table(tmp_path / "out", "games")
    (note,) = exported.problems
    assert row["digest"] == ""
    return row, note


def test_what_stands_before_an_edited_line_is_exported_and_the_line_is_named(one, tmp_path):
    lines = lines_of(game("g"))
    (one / "g.ndjson").write_bytes(b"".join([*lines[:120], lines[120].replace(b'"type"', b'"tyqe"'), *lines[121:]]))
    row, note = problem_of(one, tmp_path)
    assert "line 121" in row["problem"]
    assert note.problem.startswith("line 121")
    assert note.counted
    (one / "g.ndjson").write_bytes(b"".join(lines[:120]))
    write_csv([one], tmp_path / "before", tables=OF_GAMES)
    for name in OF_GAMES[2:]:
        assert table(tmp_path / "out", name) == table(tmp_path / "before", name)


def test_a_record_that_was_edited_and_sealed_anew_breaks_nothing(tmp_path):
    events = list(game("g"))
    at = next(at for at, event in enumerate(events) if event.type == "statement")
    events[at] = events[at].model_copy(update={"speaker": "Stranger"})
    night = next(at for at, event in enumerate(events) if event.type == "night_outcome")
    events[night] = events[night].model_copy(update={"target": "Nobody Here", "died": "Nor Here"})
    write(tmp_path / "in", events)
    row, note = problem_of(tmp_path / "in", tmp_path)
    assert "Nor Here" in note.problem or "Stranger" in note.problem
    assert row["finished"] == "false"


@pytest.mark.parametrize("lines", [1, 280])
def test_an_unfinished_record_is_exported_as_far_as_it_goes(tmp_path, lines):
    write(tmp_path / "in", game("g")[:lines])
    row, note = problem_of(tmp_path / "in", tmp_path)
    assert (row["finished"], row["winner"], row["lines"]) == ("false", "", str(lines))
    assert note.problem == f"line {lines + 1}: missing: the record stops before its game ended"
    assert {seat["won"] for seat in table(tmp_path / "out", "seats")} == {""}


@pytest.mark.parametrize("writer", WRITERS)
def test_files_without_a_game_are_named_and_give_no_row(tmp_path, writer):
    (tmp_path / "empty.ndjson").touch()
    (tmp_path / "other.ndjson").write_text("no record\n")
    exported = writer([tmp_path / "empty.ndjson", tmp_path / "other.ndjson"], tmp_path / "out")
    assert len(exported.problems) == 2
    assert exported.counts["games"] == exported.counts["seats"] == 0
    (tmp_path / "none").mkdir()
    with pytest.raises(RecordError, match="no records"):
        writer([tmp_path / "none"], tmp_path / "not")
    assert not (tmp_path / "not").exists()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_that_is_there_or_appears_meanwhile_is_kept_unless_forced(one, tmp_path, writer):
    existing = tmp_path / "out" / f"seats.{'csv' if writer is write_csv else 'parquet'}"

    def meanwhile(_read, _all):
        existing.write_text("precious")

    for tell in (meanwhile, lambda _read, _all: None):
        with pytest.raises(
            ConfigError, match=rf"{existing.name}: exists already; `wolfbus export … --force` replaces it"
        ):
            writer([one], tmp_path / "out", tables=OF_GAMES, tell=tell)
        assert [path.name for path in existing.parent.iterdir()] == [existing.name]
        assert existing.read_text() == "precious"
    writer([one], tmp_path / "out", tables=OF_GAMES, force=True)
    assert existing.read_bytes() != b"precious"


@pytest.mark.parametrize("writer", WRITERS)
def test_an_interrupted_export_and_a_full_disk_leave_nothing(one, four, tmp_path, writer):
    def interrupt(_read, _all):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writer([one], tmp_path / "out", tables=OF_GAMES, tell=interrupt)
    assert list((tmp_path / "out").iterdir()) == []
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    # no file may grow beyond 20 kB
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(OSError) as caught:
            writer([four], tmp_path / "out", tables=OF_GAMES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert caught.value.filename == str(tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_folder_that_is_a_file_is_one_line(one, tmp_path):
    (tmp_path / "out").touch()
    for folder in (tmp_path / "out", tmp_path / "out" / "below"):
        with pytest.raises(ConfigError, match="that is no folder"):
            write_csv([one], folder)


def test_memory_holds_one_game_at_a_time(four, tmp_path):
    alive = []

    def count(_read, _all):
        gc.collect()
        alive.append(sum(type(thing).__name__ == "ExportedGame" for thing in gc.get_objects()))

    write_csv([four], tmp_path, tables=OF_GAMES, tell=count)
    assert len(alive) == 4
    assert max(alive) == 1
