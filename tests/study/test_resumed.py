"""Studies that go on: grown, damaged, failed, without room on the disk."""

from __future__ import annotations

import json
from pathlib import Path

from tests.study.runs import (
    manifest,
    run,
    run_here,
    study_file,
    without_times,
)


def test_a_study_can_grow_and_its_first_games_stay(tmp_path):
    file, out = study_file(tmp_path, "seed = 3"), tmp_path / "out"
    assert run_here(file, "--games", "3", "--out", out).returncode == 0
    first = manifest(out)["games"]
    done = run_here(file, "--games", "5", "--out", out, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert manifest(out)["games"][:3] == first
    told = json.loads(done.stdout)
    assert (told["games"], told["ended"], told["complete"]) == (5, 5, True)


def test_a_finished_study_is_resumed_without_playing(whole):
    before = {path: path.stat().st_mtime_ns for path in (whole / "records").iterdir()}
    done = run_here("--resume", "--out", whole)
    assert done.returncode == 0
    assert before == {path: path.stat().st_mtime_ns for path in (whole / "records").iterdir()}
    assert f"wolfbus report {whole}" in done.stdout


def test_a_record_that_was_edited_is_set_aside_and_its_game_played_again(tmp_path):
    file, out = study_file(tmp_path, "seed = 3\ngames = 2"), tmp_path / "out"
    assert run_here(file, "--out", out).returncode == 0
    before = manifest(out)
    record = out / before["games"][0]["record"]
    text = record.read_bytes()
    at = text.index(b'"text":"') + 9
    record.write_bytes(text[:at] + b"X" + text[at + 1 :])
    done = run_here("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert without_times(manifest(out)) == without_times(before)
    assert [path.name for path in (out / "aside").iterdir()] == [f"{record.stem}.1.partial"]


def test_results_are_found_again_in_the_records_where_the_journal_is_lost(tmp_path):
    file, out = study_file(tmp_path, "seed = 3\ngames = 3"), tmp_path / "out"
    assert run_here(file, "--out", out).returncode == 0
    before = without_times(manifest(out))
    times = {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    (out / "journal.jsonl").unlink()
    assert run_here("--resume", "--out", out).returncode == 0
    assert without_times(manifest(out)) == before
    assert times == {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()}


def test_a_game_that_fails_is_counted_with_its_error_and_tried_again(tmp_path):
    file, out = study_file(tmp_path, "seed = 3\ngames = 3"), tmp_path / "out"
    assert run_here(file, "--games", "1", "--out", tmp_path / "first").returncode == 0
    name = manifest(tmp_path / "first")["games"][0]["record"].replace("-00001", "-00002")
    (out / "records").mkdir(parents=True)
    (out / name).write_text("somebody's\n")
    done = run_here(file, "--out", out)
    assert done.returncode == 1
    assert "1 of 3 games failed" in done.stderr
    assert "exists already" in done.stdout
    told = manifest(out)
    assert (told["totals"]["ended"], told["totals"]["failed"], told["complete"]) == (2, 1, False)
    assert told["games"][1]["state"] == "failed"
    assert "exists already" in told["games"][1]["error"]
    done = run_here("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert manifest(out)["complete"]
    assert (out / "aside" / f"{Path(name).stem}.1.partial").read_text() == "somebody's\n"


def test_a_disk_without_room_is_one_line_and_the_study_goes_on_later(tmp_path):
    file, out = study_file(tmp_path, "seed = 3\ngames = 4\nat_once = 2"), tmp_path / "out"

    done = run(file, "--out", out, largest_file=20_000)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert "file too large" in last
    assert "wolfbus run --resume" in last
    assert manifest(out)["totals"]["failed"] == 0
    done = run_here("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert manifest(out)["complete"]
