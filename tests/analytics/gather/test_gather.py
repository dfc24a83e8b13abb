"""Folders and files: what is read, what is left out, and that it is always said."""

import gzip
import json
import os
import re
import shutil
import signal
import threading
from functools import partial
from pathlib import Path

import pytest

import wolfbus
from analytics.gather import Criteria, each_game, find, gather
from moderator.engine.reexecution import Verifier
from tests.analytics.gather.conftest import SHORT
from tests.analytics.script import measured, replies_of, tables_of
from tests.analytics.test_columns import same
from tests.published_log import PUBLISHED
from tests.waiting import wait_until
from wolfbus.cli import run as command
from wolfbus.errors import RecordError, WolfError


def into_study(folder: Path, **members: object) -> dict[str, str]:
    """Make the records those of a study, whose manifest says this; return the games' ids by the records' names."""
    (folder / "records").mkdir()
    ids = {}
    for path in sorted(folder.glob("*.ndjson")):
        ids[path.stem] = json.loads(path.read_bytes().splitlines()[0])["game"]
        path.rename(folder / "records" / path.name)
    manifest_of(folder, **members)
    return ids


def games_in(folder: Path) -> list[str]:
    return [json.loads(path.read_bytes().splitlines()[0])["game"] for path in sorted(folder.glob("*.ndjson"))]


def manifest_of(folder: Path, **members: object) -> dict[str, object]:
    manifest = {"format": "wolfbus-study", "version": 1, **members}
    (folder / "study.json").write_text(json.dumps(manifest))
    return manifest


def test_a_folder_gives_the_same_with_one_process_and_with_two_that_re_execute_it(played, monkeypatch):
    one = gather([played], workers=1)
    monkeypatch.setattr("analytics.gather.BATCH", 1)
    two = gather([played], Criteria(prover=Verifier), workers=2)
    assert same(one.tables, two.tables)
    assert replies_of(one) == replies_of(two)
    assert [note.path for note in one.files] == [str(played / f"{seed}.ndjson") for seed in (1, 2, 3, 4)]
    assert one.problems == ()
    assert ([note.proven for note in one.files], [note.proven for note in two.files]) == ([None] * 4, [True] * 4)


@pytest.mark.parametrize("ends", [partial(os._exit, 1), partial(signal.raise_signal, signal.SIGINT)])
def test_a_process_that_is_killed_while_it_reads_is_told_in_one_line(played: Path, monkeypatch, capfd, ends):
    monkeypatch.setattr("analytics.gather.BATCH", 1)
    with pytest.raises(WolfError, match="was killed"):
        gather([played], Criteria(prover=ends), workers=2)
    assert capfd.readouterr().err == ""


def _stand_still(begun: Path):
    begun.touch()
    threading.Event().wait(60)
    begun.with_name("ended").touch()


def test_what_is_interrupted_waits_for_none_of_the_processes_that_read(played: Path, tmp_path, monkeypatch):
    begun, before = tmp_path / "begun", signal.signal(signal.SIGTERM, signal.default_int_handler)

    def interrupt():
        wait_until(begun.exists)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("analytics.gather.BATCH", 1)
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            gather([played], Criteria(prover=partial(_stand_still, begun)), workers=2)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not begun.with_name("ended").exists()


def test_a_packed_file_is_read_like_any_other(folder: Path):
    expected = gather([folder])
    for path in list(folder.iterdir()):
        (folder / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        path.unlink()
    packed = gather([folder])
    assert same(packed.tables, expected.tables)
    assert replies_of(packed) == replies_of(expected)


@pytest.mark.parametrize(
    ("damaged", "events", "problem"),
    [
        (lambda lines: lines[:200], 200, "line 201: missing: the record stops before its game ended"),
        (
            lambda lines: [*lines[:99], lines[99].replace(b'"time":', b'"time":1', 1), *lines[100:]],
            *(99, "line 100: the hash does not match.*"),
        ),
    ],
    ids=["broken off", "edited"],
)
def test_a_damaged_record_is_counted_as_far_as_it_holds_and_named(folder: Path, damaged, events, problem):
    path = folder / "2.ndjson"
    path.write_bytes(b"".join(damaged(path.read_bytes().splitlines(keepends=True))))
    gathered = gather([folder])
    (note,) = gathered.problems
    assert (note.path, note.events, note.counted) == (str(path), events, True)
    assert re.fullmatch(problem, note.problem)
    assert measured("outcomes", gathered.tables)["unfinished"] == 1


def test_one_game_in_two_files_counts_once(folder: Path):
    shutil.copy(folder / "1.ndjson", folder / "again.ndjson")
    gathered = gather([folder])
    assert len(gathered.tables.ids) == 4
    (note,) = gathered.problems
    assert not note.counted
    assert note.problem == f"game {note.game} stands in {folder / '1.ndjson'}, too; it is read from there"
    assert gather([folder / "3.ndjson", folder / "3.ndjson"]).problems == ()


def test_a_game_of_no_study_that_was_played_twice_counts_once_and_verifies_twice(folder: Path, capsys):
    wolfbus.play("scripted*6,random*2", config=SHORT, seed=1, out=folder, game="alike")
    wolfbus.play("scripted*8", seed=1, out=folder, game="other")
    gathered = gather([folder])
    assert len(gathered.tables.ids) == 5
    (note,) = gathered.problems
    assert (note.path, note.counted) == (str(folder / "alike.ndjson"), False)
    assert re.fullmatch(
        rf"the same game as {folder}/1\.ndjson, played again \(digest [0-9a-f]{{12}}…\); it is counted once",
        note.problem,
    )
    assert command(["verify", str(folder)]) == 0
    assert "6 of 6 records:" in capsys.readouterr().out
    # a study says what it planned
    into_study(folder, study="s", games=[{"game": name} for name in games_in(folder)])
    assert gather([folder]).problems == ()
    assert len(gather([folder]).tables.ids) == 6


@pytest.fixture
def whole_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """For whose sake a record was read from its beginning to its end, so far."""
    from wolfbus.record.reader import read_checked

    reads: list[str] = []

    def counted(module: str, *words: object, **options: object) -> object:
        reads.append(module)
        return read_checked(*words, **options)

    for module in ("reading", "sources"):
        monkeypatch.setattr(f"analytics.gather.{module}.read_checked", partial(counted, module))
    return reads


def test_a_game_whose_digest_its_study_noted_is_not_read_once_more_for_it(tmp_path: Path, whole_reads: list[str]):
    planned = wolfbus.play("scripted*8", seed=1, out=tmp_path / "study", game="planned")
    into_study(tmp_path / "study", games=[{"game": "planned", "state": "ended", "digest": planned.digest}])
    wolfbus.play("scripted*8", seed=1, out=tmp_path / "loose", game="alike")
    whole_reads.clear()
    gathered = gather([tmp_path])
    # the one that no study knows is read for its digest, the other to be measured
    assert whole_reads == ["sources", "reading"]
    (note,) = gathered.problems
    assert note.problem is not None
    assert note.problem.startswith(f"the same game as {tmp_path}/study/records/planned.ndjson, played again")
    assert [note.counted for note in gathered.files] == [False, True]


def test_a_record_is_not_read_again_for_its_digest_where_the_cache_answers(folder: Path, whole_reads: list[str]):
    wolfbus.play("scripted*6,random*2", config=SHORT, seed=1, out=folder, game="alike")
    whole_reads.clear()
    first = gather([folder], cached=True)
    assert whole_reads == ["sources"] * 2 + ["reading"] * 4
    whole_reads.clear()
    second = gather([folder], cached=True)
    assert whole_reads == []
    assert second.files == first.files
    # what changed is read
    path = folder / "alike.ndjson"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    assert len(gather([folder], cached=True).tables.ids) == 5
    assert whole_reads[0] == "sources"


def test_of_two_files_of_a_game_the_whole_one_is_read(folder: Path):
    expected = gather([folder])
    shutil.copy(folder / "1.ndjson", folder / "whole.ndjson")
    lines = (folder / "1.ndjson").read_bytes().splitlines(keepends=True)
    for damaged in (lines[:100], [*lines[:50], lines[51]], [*lines[:-1], lines[-1][:-9]]):
        (folder / "1.ndjson").write_bytes(b"".join(damaged))
        gathered = gather([folder])
        assert same(gathered.tables, expected.tables)
        assert replies_of(gathered) == replies_of(expected)
        (note,) = gathered.problems
        assert (note.path, note.counted) == (str(folder / "1.ndjson"), False)
        assert [path.path for path, _ in each_game([folder])] == sorted(path.path for path in gathered.files)
    # of two that are not whole, the one that reaches further
    (folder / "1.ndjson").write_bytes(b"".join(lines[:100]))
    (folder / "whole.ndjson").write_bytes(b"".join(lines[:200]))
    assert [note.events for note in gather([folder]).files if note.path.endswith(("whole.ndjson", "/1.ndjson"))] == [
        0, 200,
    ]  # fmt: skip


def test_records_of_a_study_that_its_manifest_does_not_know_are_named(folder: Path):
    ids = into_study(folder)
    games = [{"game": ids["1"], "state": "ended"}, {"game": ids["2"], "state": "failed"}, {"game": ids["3"]}]
    manifest_of(folder, study="s1", games=games)
    gathered = gather([folder])
    assert {note.path: (note.counted, note.problem) for note in gathered.problems} == {
        str(folder / "records" / "2.ndjson"): (
            False, f"study s1 notes no end of game {ids['2']} (failed), and the record has one",
        ),
        str(folder / "records" / "4.ndjson"): (
            False, f"study s1 planned no game {ids['4']}, which stands among its records",
        ),
    }  # fmt: skip
    assert [note for note, _ in each_game([folder])] == list(gathered.files)
    assert [note.counted for note in gather([folder], Criteria(include_differing=True)).files] == [True] * 4


def test_a_pipe_is_not_waited_for(folder: Path):
    os.mkfifo(folder / "pipe.ndjson")
    os.mkfifo(folder / "study.json")
    (note,) = gather([folder]).problems
    assert (note.path, note.problem) == (str(folder / "pipe.ndjson"), "no regular file; it is passed over")
    with pytest.raises(RecordError, match=r"pipe\.ndjson: not a file but a pipe; save what comes out of it in a file"):
        gather([folder / "pipe.ndjson"])


def test_a_link_that_leads_to_itself_is_named_and_the_rest_is_read(folder: Path):
    loop = folder / "loop.ndjson"
    loop.symlink_to(loop.name)
    gathered = gather([folder])
    assert [(note.path, note.problem) for note in gathered.problems] == [
        (str(loop), "too many levels of symbolic links")
    ]
    assert sum(note.counted for note in gathered.files) == 4


def test_what_is_no_record_is_passed_over_in_a_folder_and_named_if_it_was_asked_for(folder: Path):
    other = folder / "other.ndjson"
    other.write_text('{"some": "log"}\n')
    assert len(gather([folder]).files) == 4
    (note,) = gather([other]).files
    assert (note.counted, note.problem) == (False, "not a wolfbus record")
    (folder / "empty.ndjson").touch()
    assert [note.problem for note in gather([folder]).problems] == ["empty; there is no record in it"]


def test_nothing_to_read_is_one_line_beside_a_study_too(folder: Path, tmp_path: Path):
    into_study(folder)
    (tmp_path / "empty").mkdir()
    for beside in ([], [folder]):
        with pytest.raises(RecordError, match="no such file or folder"):
            gather([*beside, tmp_path / "nowhere"])
        with pytest.raises(RecordError, match=r"empty: no records in it: no \*\.ndjson"):
            gather([*beside, tmp_path / "empty"])


def test_a_study_has_blocks_and_its_journal_is_no_game(folder: Path):
    ids = into_study(folder)
    (folder / "progress.ndjson").write_text("{}\n")
    games = [{"game": name, "block": "b1" if stem in "12" else name} for stem, name in ids.items()]
    manifest = manifest_of(folder, games=games)
    gathered = gather([folder])
    assert gathered.problems == ()
    assert [study.manifest for study in gathered.studies] == [manifest]
    names = gathered.tables.games["block"].to_list()
    expected = {game["game"]: game["block"] for game in games}
    assert names == [expected[name] for name in gathered.tables.ids]
    manifest_of(folder, games=games, version=9)
    with pytest.raises(RecordError, match=r"study\.json: version 9 of a study; this wolfbus reads version 1"):
        find([folder])
    (folder / "study.json").write_text("{")
    with pytest.raises(RecordError, match=r"study\.json: not JSON"):
        find([folder])


@pytest.mark.published_log
def test_a_published_log_is_a_game_in_either_reading():
    read = gather([PUBLISHED])
    stored = gather([PUBLISHED], Criteria(as_recorded=True))
    assert read.problems == stored.problems == ()
    assert measured("labels", read.tables)["defaulted"] == 0
    labels = measured("labels", stored.tables)
    assert labels["defaulted"] == labels["total"]


def test_a_record_that_a_study_has_lost_is_named(folder: Path):
    ids = into_study(folder)
    games = [{"game": game, "state": "ended", "record": f"records/{stem}.ndjson"} for stem, game in ids.items()]
    manifest_of(folder, study="s", games=games)
    assert gather([folder]).problems == ()
    (folder / "records" / "2.ndjson").unlink()
    (note,) = gather([folder]).problems
    assert (note.path, note.counted) == (str(folder / "records" / "2.ndjson"), False)
    assert note.problem == f"missing: study s says that game {games[1]['game']} was played to its end"
    # also where another game's file stands in its place
    (folder / "records" / "1.ndjson").rename(folder / "records" / "2.ndjson")
    gathered = gather([folder])
    assert gathered.problems == (note,)
    assert [note for note, _ in each_game([folder])] == list(gathered.files)


def test_streaming_the_games_gives_the_rows_that_are_gathered_and_the_words_that_are_kept_of_few(played: Path):
    again = {note.path: rows for note, rows in each_game([played]) if rows is not None}
    texts = [statement.text for rows in again.values() for statement in rows.statements]
    assert all(texts)
    with_texts = gather([played], with_words=len(texts))
    assert with_texts.games == again
    assert same(with_texts.tables, tables_of(again.values()))
    of_all_but_the_last = len(texts) - len(list(again.values())[-1].statements)
    for limit in (0, of_all_but_the_last, len(texts) - 1):
        assert gather([played], with_words=limit).games == {}


def test_words_of_games_that_were_not_read_now_are_not_kept(folder: Path):
    assert len(gather([folder], cached=True, with_words=10_000).games) == 4
    assert gather([folder], cached=True, with_words=10_000).games == {}
