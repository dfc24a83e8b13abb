"""Studies as users run them: whole, killed, interrupted, resumed, in one process and in two."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from tests.study.runs import (
    ENVIRONMENT,
    WOLFBUS,
    begin,
    children_of,
    journal_lines,
    manifest,
    run,
    study_file,
    wait_for,
    without_times,
)
from wolfbus.cli.studying.loading import load_study
from wolfbus.cli.studying.showing import replay_command

STUDY = 'games = 24\nseed = 11\nplayers = "scripted*4,random*4"\nat_once = 4'


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A study that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole")
    done = run(study_file(folder, STUDY), "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return folder / "out"


@pytest.fixture
def study(tmp_path) -> Path:
    return study_file(tmp_path, STUDY)


@pytest.fixture
def out(tmp_path) -> Iterator[Path]:
    return tmp_path / "out"


def assert_like(whole: Path, out: Path) -> None:
    assert without_times(manifest(out)) == without_times(manifest(whole))
    records = {path.name for path in (whole / "records").iterdir()}
    assert {path.name for path in (out / "records").iterdir()} == records


def test_a_study_leaves_a_record_of_every_game_and_a_manifest_that_counts_them(whole):
    told = manifest(whole)
    assert told["complete"]
    assert told["totals"]["ended"] == told["totals"]["games"] == len(told["games"]) == 24
    assert sum(told["totals"][who] for who in ("villagers", "werewolves", "nobody")) == 24
    assert told["totals"]["statements"] > 100
    for game in told["games"]:
        first, *_, last = (whole / game["record"]).read_text().splitlines()
        opened = json.loads(first)
        assert (opened["game"], opened["seed"]) == (game["game"], game["seed"])
        assert [seat["brain"] for seat in opened["seats"]] == game["brains"]
        assert json.loads(last).get("winner") == game["winner"]
    assert told["agents"] == ["scripted", "random"]
    assert told["design"]["roles_equal"]
    assert len({game["block"] for game in told["games"]}) == 12


def test_a_run_that_is_killed_goes_on_where_it_was(study, out, whole):
    process = begin(study, "--out", out)
    wait_for(lambda: journal_lines(out) >= 6)
    process.kill()
    process.communicate()
    played = journal_lines(out)
    assert played < 24
    # the last of the journal's lines may be half there
    with (out / "journal.jsonl").open("rb+") as journal:
        journal.truncate(journal.seek(0, os.SEEK_END) - 20)
    before = {path.name: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    done = run("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert_like(whole, out)
    kept = [path for path in (out / "records").iterdir() if before.get(path.name) == path.stat().st_mtime_ns]
    assert len(kept) >= played


def test_two_workers_play_the_same_study(study, out, whole):
    done = run(study, "--out", out, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert_like(whole, out)


def test_workers_die_with_their_parent_and_the_study_goes_on(study, out, whole):
    process = begin(study, "--out", out, "--workers", "2")
    wait_for(lambda: journal_lines(out) >= 6)
    workers = children_of(process.pid)
    assert len(workers) == 2
    process.kill()
    process.communicate()
    # resuming waits for them, since they hold the folder too
    done = run("--resume", "--out", out, "--workers", "1")
    assert done.returncode == 0, done.stderr
    wait_for(lambda: not any(Path(f"/proc/{worker}/stat").exists() and _lives(worker) for worker in workers))
    assert_like(whole, out)


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_worker_that_is_killed_is_replaced_and_its_games_are_played_again(study, out, whole):
    process = begin(study, "--out", out, "--workers", "2")
    wait_for(lambda: journal_lines(out) >= 4)
    os.kill(children_of(process.pid)[0], signal.SIGKILL)
    _, error = process.communicate(timeout=100)
    assert process.returncode == 0, error
    assert_like(whole, out)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_ends_at_once_with_a_line_that_says_how_to_go_on(study, out, whole, workers):
    process = begin(study, "--out", out, "--workers", workers)
    wait_for(lambda: journal_lines(out) >= 4)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    last = error.strip().splitlines()[-1]
    assert last.startswith("wolfbus: interrupted;")
    assert last.endswith(f"wolfbus run --resume --out {out}")
    told = manifest(out)
    assert not told["complete"]
    assert told["totals"]["pending"] == 24 - told["totals"]["ended"] > 0
    assert told["totals"]["failed"] == 0
    # what is there is whole
    assert len(list((out / "records").iterdir())) == told["totals"]["ended"]
    done = run("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert_like(whole, out)


def test_a_folder_takes_one_run_at_a_time(study, out):
    process = begin(study, "--out", out)
    wait_for(lambda: journal_lines(out) >= 1)
    # so that it is still there, however long the other takes to start
    process.send_signal(signal.SIGSTOP)
    second = run(study, "--out", out, "--resume")
    process.kill()
    process.communicate()
    assert second.returncode == 1
    assert f"process {process.pid} is playing this study" in second.stderr


def test_a_folder_with_a_study_is_not_begun_again(whole):
    done = run("--games", "24", "--out", whole)
    assert done.returncode == 2
    assert "add --resume" in done.stderr


def test_resuming_where_nothing_is_creates_nothing(out):
    done = run("--resume", "--out", out)
    assert done.returncode == 2
    assert "no study to resume" in done.stderr
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--seed", "12"], ["seed", '"12"', '"11"']),
        (["--players", "random"], ["agents"]),
        (["--players", "scripted*2,random*6"], ["seats"]),
        (["--design", "fixed"], ["design", '"fixed"', '"balanced"']),
        (["--games", "23"], ["games", "23", "24", "only grow"]),
    ],
)
def test_another_study_is_not_taken_for_this_one(whole, options, words):
    before = (whole / "study.json").read_bytes()
    done = run("--resume", "--out", whole, *options)
    assert done.returncode == 2
    line = done.stderr.strip()
    assert "\n" not in line
    for word in words:
        assert word in line
    assert (whole / "study.json").read_bytes() == before


def test_other_rules_are_another_study(whole, tmp_path):
    (tmp_path / "other.toml").write_text(STUDY + "\n[rules]\ndebate_turns = 3\nmax_rounds = 2")
    done = run(tmp_path / "other.toml", "--resume", "--out", whole)
    assert done.returncode == 2
    assert "config.debate_turns: 3 is told" in done.stderr


def test_a_study_can_grow_and_its_first_games_stay(tmp_path):
    file, out = study_file(tmp_path, "seed = 3"), tmp_path / "out"
    assert run(file, "--games", "3", "--out", out).returncode == 0
    first = manifest(out)["games"]
    done = run(file, "--games", "5", "--out", out, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert manifest(out)["games"][:3] == first
    told = json.loads(done.stdout)
    assert (told["games"], told["ended"], told["complete"]) == (5, 5, True)


def test_a_finished_study_is_resumed_without_playing(whole):
    before = {path: path.stat().st_mtime_ns for path in (whole / "records").iterdir()}
    done = run("--resume", "--out", whole)
    assert done.returncode == 0
    assert before == {path: path.stat().st_mtime_ns for path in (whole / "records").iterdir()}
    assert f"wolfbus report {whole}" in done.stdout


def test_a_record_that_was_edited_is_set_aside_and_its_game_played_again(tmp_path):
    file, out = study_file(tmp_path, "seed = 3\ngames = 2"), tmp_path / "out"
    assert run(file, "--out", out).returncode == 0
    before = manifest(out)
    record = out / before["games"][0]["record"]
    text = record.read_bytes()
    at = text.index(b'"text":"') + 9
    record.write_bytes(text[:at] + b"X" + text[at + 1 :])
    done = run("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert without_times(manifest(out)) == without_times(before)
    assert [path.name for path in (out / "aside").iterdir()] == [f"{record.stem}.1.partial"]


def test_results_are_found_again_in_the_records_where_the_journal_is_lost(tmp_path):
    file, out = study_file(tmp_path, "seed = 3\ngames = 3"), tmp_path / "out"
    assert run(file, "--out", out).returncode == 0
    before = without_times(manifest(out))
    times = {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    (out / "journal.jsonl").unlink()
    assert run("--resume", "--out", out).returncode == 0
    assert without_times(manifest(out)) == before
    assert times == {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()}


def test_a_game_that_fails_is_counted_with_its_error_and_tried_again(tmp_path):
    file, out = study_file(tmp_path, "seed = 3\ngames = 3"), tmp_path / "out"
    assert run(file, "--games", "1", "--out", tmp_path / "first").returncode == 0
    name = manifest(tmp_path / "first")["games"][0]["record"].replace("-00001", "-00002")
    (out / "records").mkdir(parents=True)
    (out / name).write_text("somebody's\n")
    done = run(file, "--out", out)
    assert done.returncode == 1
    assert "1 of 3 games failed" in done.stderr
    assert "exists already" in done.stdout
    told = manifest(out)
    assert (told["totals"]["ended"], told["totals"]["failed"], told["complete"]) == (2, 1, False)
    assert told["games"][1]["state"] == "failed"
    assert "exists already" in told["games"][1]["error"]
    done = run("--resume", "--out", out)
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
    done = run("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert manifest(out)["complete"]


def test_any_game_can_be_played_again_alone_with_the_same_digest(whole, tmp_path):
    plan = load_study(whole / "study.toml", None, {}).plan()
    assert plan.game(17).seed == manifest(whole)["games"][16]["seed"]
    words = shlex.split(replay_command(plan.game(17), whole))
    assert words[0] == "wolfbus"
    done = subprocess.run(
        [*WOLFBUS, *words[1:], "--json", "--out", str(tmp_path)], capture_output=True, env=ENVIRONMENT, check=True
    )
    assert json.loads(done.stdout)["digest"] == manifest(whole)["games"][16]["digest"]


def test_a_study_on_redis_leaves_nothing_there_for_ever(tmp_path, redis_server, redis_url, whole):
    out = tmp_path / "out"
    done = run(study_file(tmp_path, STUDY), "--out", out, "--games", "4", "--workers", "2", "--bus", redis_url)
    assert done.returncode == 0, done.stderr
    digests = [game["digest"] for game in manifest(whole)["games"][:4]]
    assert [game["digest"] for game in manifest(out)["games"]] == digests
    with redis.Redis.from_url(redis_url) as link:
        records = list(link.scan_iter("wolf:*:record:*"))
        assert len(records) == 4
        assert all(link.ttl(key) > 0 for key in records)


def test_brains_that_cannot_be_made_are_told_before_anything_is_played(tmp_path):
    for workers in ("1", "2"):
        done = run("--players", "nosuchmodule:Brain", "--workers", workers, "--out", tmp_path / workers)
        assert done.returncode == 2
        assert "nosuchmodule" in done.stderr.strip().splitlines()[-1]
        assert not (tmp_path / workers / "study.json").exists()
