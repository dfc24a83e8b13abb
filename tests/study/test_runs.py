"""Studies on this machine: what they leave; refused, grown, damaged, without room, killed, interrupted; and gone on
with.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from pkgutil import resolve_name

import pytest
import redis

from tests.study.brains import GATE
from tests.study.runs import (
    SHORT,
    STUDY,
    assert_like,
    begin,
    journal_lines,
    manifest,
    run,
    run_here,
    seen_in_a_terminal,
    study_file,
    without_times,
    workers_of,
)
from tests.waiting import wait_until
from wolfbus import cli
from wolfbus.errors import WolfError


def times_of(out):
    return {path.name: path.stat().st_mtime_ns for path in (out / "records").iterdir()}


@pytest.fixture
def small(tmp_path, out):
    """Play the first of a few games."""

    def play(games, *more):
        file = study_file(tmp_path, "seed = 3\nat_once = 2")
        return run_here(file, "--games", str(games), "--out", out, *more)

    return play


def games_over(out):
    """Return how many of its records are written to the end."""
    return sum(b'"type":"ended"' in path.read_bytes() for path in (out / "records").iterdir())


def resume(out, *more):
    return run_here("--resume", "--out", out, *more, code=0)


# -- what they leave


def test_a_study_leaves_a_record_of_every_game_and_a_manifest_that_counts_them(whole):
    study = manifest(whole)
    assert study["complete"]
    assert study["totals"]["ended"] == study["totals"]["games"] == len(study["games"]) == 16
    assert sum(study["totals"][who] for who in ("villagers", "werewolves", "nobody")) == 16
    assert study["totals"]["statements"] > 100
    for game in study["games"]:
        first, *_, last = (whole / game["record"]).read_text().splitlines()
        opened = json.loads(first)
        assert (opened["game"], opened["seed"]) == (game["game"], game["seed"])
        assert [seat["brain"] for seat in opened["seats"]] == game["brains"]
        assert json.loads(last).get("winner") == game["winner"]
    assert study["agents"] == ["scripted", "tests.study.brains:Gated"]
    assert study["design"]["roles_equal"]
    assert len({game["block"] for game in study["games"]}) == 8


def test_a_game_can_be_played_again_alone_with_the_same_digest(whole, tmp_path, capsys):
    (again,) = (line for line in resume(whole).stdout.splitlines() if line.startswith("Again"))
    _, _, *words = shlex.split(again)
    assert cli.run([*words, "--quiet", "--json", "--out", str(tmp_path)]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == manifest(whole)["games"][0]["digest"]


def test_a_study_on_redis_leaves_nothing_there_for_ever(tmp_path, redis_url, whole, out):
    run_here(study_file(tmp_path, STUDY), "--out", out, "--games", "4", "--workers", "2", "--bus", redis_url, code=0)
    digests = [game["digest"] for game in manifest(whole)["games"][:4]]
    assert [game["digest"] for game in manifest(out)["games"]] == digests
    with redis.Redis.from_url(redis_url) as link:
        records = list(link.scan_iter("wolf:*:record:*"))
        assert len(records) == 4
        assert all(link.ttl(key) > 0 for key in records)


def test_many_scripted_games_use_the_cores_that_python_counts_and_no_more(tmp_path, out, monkeypatch):
    monkeypatch.setattr(os, "process_cpu_count", lambda: 1, raising=False)
    # so no worker can be started
    monkeypatch.setattr(sys, "executable", str(tmp_path / "none"))
    run_here(study_file(tmp_path, 'games = 50\nseed = 3\nplayers = "random"'), "--out", out, code=0)


def test_a_run_tells_at_its_end_of_whom_no_answer_could_be_used(tmp_path, out):
    errors = {}
    # a brain that fails at everything spoils its games
    for brain, code in (("tests.whole.brains:Raises", 4), ("random", 0)):
        file = study_file(tmp_path, f'games = 2\nseed = 3\nplayers = "{brain}*2,scripted*6"')
        errors[brain] = run_here(file, "--out", out / brain.rpartition(":")[2], code=code).stderr
    line = "wolfbus: in 2 games, no answer of tests.whole.brains:Raises could be used: all are defaults\n"
    assert [text.count("no answer of") for text in errors.values()] == [1, 0]
    assert line in errors["tests.whole.brains:Raises"]


MOCK = """
[models.m]
endpoint = "here"
price = { input = 10.0, output = 10.0 }
[endpoints.here]
provider = "mock"
"""


@pytest.mark.parametrize("games", ["1", "2"])
def test_replies_are_recorded_however_many_of_the_workers_there_are_games_for(tmp_path, out, games):
    file = study_file(tmp_path, f'seed = 3\nat_once = 2\nworkers = 2\nplayers = "llm:m*8"\n{MOCK}')
    run_here(file, "--games", games, "--out", out, "--cassette", tmp_path / "tape", code=0)
    lines = [json.loads(line) for file in (tmp_path / "tape").iterdir() for line in file.read_text().splitlines()]
    assert any("completion" in line for line in lines)


def test_a_terminal_is_asked_how_many_games_and_shown_how_far_they_are(tmp_path, out):
    rules = tmp_path / "rules.toml"
    rules.write_text(SHORT.replace("[rules]\n", "") + MOCK)
    words = ["--config", rules, "--seed", "3", "--players", "llm:m*8", "--out"]
    run_here("--games", "1", *words, tmp_path / "first", code=0)
    # no record is ever overwritten, so this game cannot be played
    record = min((tmp_path / "first" / "records").iterdir())
    (out / "records").mkdir(parents=True)
    (out / "records" / record.name).touch()
    code, text = seen_in_a_terminal([*words, out], columns=160, keys=b"3\n")
    assert (code, "Games [20]: " in text) == (1, True), text
    last = text.rsplit("3/3", 1)[1]
    shown = r" \d+ calls, \$\d+\.\d\d, 1 failed, \d+ s left, .* games/s, wolves \d, villagers \d, nobody \d"
    assert re.match(shown, last), last


def test_a_narrow_terminal_shows_calls_cost_and_budget(tmp_path, out):
    file = study_file(tmp_path, f'games = 1\nseed = 3\nbudget = 20.0\nplayers = "llm:m*8"\n{MOCK}')
    code, text = seen_in_a_terminal([file, "--out", out], columns=60)
    assert code == 0, text
    assert re.search(r"\d+ calls, \$\d+\.\d\d of \$20\.00", text), text


# -- refused


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("--games 16", ["add --resume"]),
        ("--resume --seed 12", ["seed: another is told than the folder's study has"]),
        ("--resume --players random", ["agents"]),
        ("--resume --players scripted*2,tests.study.brains:Gated*6", ["seats"]),
        ("--resume --design fixed", ["design", '"fixed"', '"balanced"']),
        ("--resume --games 15", ["games", "15", "16", "only grow"]),
        ("--resume {other}", ["config.deadlines.bid: 5.0 is told, and the folder's study has 60.0"]),
    ],
)
def test_another_study_is_not_taken_for_this_one(whole, tmp_path, options, words):
    other = tmp_path / "other.toml"
    other.write_text(f"{STUDY}\n{SHORT}[rules.deadlines]\nbid = 5.0")
    before = (whole / "study.json").read_bytes()
    done = run_here(*shlex.split(options.format(other=other)), "--out", whole, code=2)
    (line,) = done.stderr.splitlines()
    assert all(word in line for word in words)
    assert (whole / "study.json").read_bytes() == before


def test_resuming_where_nothing_is_creates_nothing(out):
    done = run_here("--resume", "--out", out, code=2)
    assert "no study to resume" in done.stderr
    assert not out.exists()
    assert run_here("--resume", code=2).stderr.endswith("give its --out\n")
    line = f"{out.parent}: is a directory; wolfbus run --resume --out {out.parent} goes on"
    assert line in run_here("--resume", out.parent, code=2).stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_brains_that_cannot_be_made_are_told_before_anything_is_played(out, workers):
    done = run_here("--players", "nosuchmodule:Brain", "--workers", workers, "--out", out, code=2)
    assert "nosuchmodule" in done.stderr.strip().splitlines()[-1]
    assert not (out / "study.json").exists()


# -- gone on with


def test_a_study_can_grow_and_its_first_games_stay(small, out):
    assert small(3).returncode == 0
    first = manifest(out)["games"]
    done = small(5, "--resume", "--json")
    assert done.returncode == 0, done.stderr
    assert manifest(out)["games"][:3] == first
    totals = json.loads(done.stdout)
    assert (totals["games"], totals["ended"], totals["complete"]) == (5, 5, True)


@pytest.mark.parametrize("journal", [True, False], ids=["with its journal", "without"])
def test_a_finished_study_is_resumed_by_its_records_without_playing(small, out, journal):
    assert small(3).returncode == 0
    before, times = without_times(manifest(out)), times_of(out)
    if not journal:
        (out / "journal.jsonl").unlink()
    assert f"wolfbus report {out}" in resume(out).stdout
    assert without_times(manifest(out)) == before
    assert times_of(out) == times


def test_a_record_that_was_edited_is_set_aside_and_its_game_played_again(small, out):
    assert small(2).returncode == 0
    before = manifest(out)
    record = out / before["games"][0]["record"]
    text = record.read_bytes()
    at = text.index(b'"text":"') + 9
    record.write_bytes(text[:at] + b"X" + text[at + 1 :])
    resume(out)
    assert without_times(manifest(out)) == without_times(before)
    assert [path.name for path in (out / "aside").iterdir()] == [f"{record.stem}.1.partial"]


def test_a_game_that_fails_is_counted_with_its_error_and_tried_again(small, out):
    assert small(1).returncode == 0
    name = manifest(out)["games"][0]["record"].replace("-00001", "-00002")
    shutil.rmtree(out)
    (out / "records").mkdir(parents=True)
    (out / name).write_text("somebody's\n")
    done = small(3)
    assert done.returncode == 1
    assert "1 of 3 games failed" in done.stderr
    assert "exists already" in done.stdout
    assert re.search(r"^Hash .*\(of the records so far; more games change it\)$", done.stdout, re.MULTILINE)
    study = manifest(out)
    assert (study["totals"]["ended"], study["totals"]["failed"], study["complete"]) == (2, 1, False)
    assert study["games"][1]["state"] == "failed"
    assert "exists already" in study["games"][1]["error"]
    resume(out)
    assert manifest(out)["complete"]
    assert (out / "aside" / f"{Path(name).stem}.1.partial").read_text() == "somebody's\n"


def test_a_disk_without_room_is_one_line_and_the_study_goes_on_later(tmp_path, out):
    done = run(study_file(tmp_path, "seed = 3\ngames = 4\nat_once = 2"), "--out", out, largest_file=20_000)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert "file too large" in last
    assert "wolfbus run --resume" in last
    assert manifest(out)["totals"]["failed"] == 0
    resume(out)
    assert manifest(out)["complete"]


# -- killed and interrupted in the middle, in one process and in two


@pytest.fixture
def midway(study, out, gate):
    """Begin a study, and return once it is in its middle."""

    def begun(*more):
        process = begin(study, "--out", out, *more, gate=gate)
        wait_until(lambda: journal_lines(out) >= 2)
        return process

    return begun


def test_a_folder_takes_one_run_at_a_time_and_one_that_is_killed_goes_on_where_it_was(midway, out, whole):
    process = midway("--workers", "2")
    workers = workers_of(process.pid)
    assert len(workers) == 2
    second = run_here("--resume", "--out", out, code=1)
    assert f"process {process.pid} is playing this study" in second.stderr
    process.kill()
    process.communicate()
    played = journal_lines(out)
    assert played < 16
    # the last of the journal's lines may be half there
    with (out / "journal.jsonl").open("rb+") as journal:
        journal.truncate(journal.seek(0, os.SEEK_END) - 20)
    before = times_of(out)
    # resuming waits for the workers, which die with their parent, since they hold the folder too
    resume(out, "--workers", "1")
    wait_until(lambda: not any(map(_lives, workers)))
    assert_like(whole, out)
    assert sum(before.get(name) == time for name, time in times_of(out).items()) >= played


def _lives(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_run_whose_own_server_dies_tells_what_there_is_and_goes_on_later(midway, out, whole):
    process = midway("--workers", "2")
    (server,) = workers_of(process.pid, b"redis.sock")
    os.kill(server, signal.SIGKILL)
    told, error = process.communicate(timeout=90)
    assert process.returncode == 1
    assert "of 16 games ended\n" in told
    assert re.search(r"wolfbus: Redis at .* cannot be reached .*; go on with: wolfbus run --resume", error)
    assert manifest(out)["totals"]["ended"] == journal_lines(out)
    resume(out, "--workers", "1")
    assert_like(whole, out)


def test_a_server_for_workers_that_does_not_start_leaves_no_folder(tmp_path, out, monkeypatch):
    broken = tmp_path / "bin" / "redis-server"
    broken.parent.mkdir()
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Redis server v=7.2.0"\n')
    broken.chmod(0o700)
    folder = tmp_path / "server"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(broken.parent))
    monkeypatch.setattr("wolfbus.service.redis._short_folder", lambda: folder)
    done = run_here(study_file(tmp_path, "games = 4\nworkers = 2"), "--out", out, code=1)
    assert f"{broken} did not start" in done.stderr
    assert not folder.exists()


@pytest.mark.parametrize(
    ("brain", "why"),
    [
        ("Dies", "a worker ended before it could play"),
        ("Breaks", "a worker failed: ZeroDivisionError"),
        ("Upsets", "the moderator failed by an error of its own"),
    ],
)
def test_workers_that_cannot_go_on_end_the_run_with_a_line_that_says_why(tmp_path, out, monkeypatch, brain, why):
    monkeypatch.setenv(GATE, str(tmp_path / "dead"))
    study = study_file(tmp_path, f'games = 4\nat_once = 2\nworkers = 2\nplayers = "tests.study.brains:{brain}*8"')
    last = run_here(study, "--out", out, code=1).stderr.strip().splitlines()[-1]
    assert why in last
    assert "wolfbus run --resume" in last
    assert manifest(out)["totals"]["failed"] == 0


def test_a_worker_that_is_not_ready_in_time_is_ended_where_another_was_to_take_its_place(tmp_path, out, monkeypatch):
    gate = tmp_path / "dead"
    monkeypatch.setenv(GATE, str(gate))
    module, began = "wolfbus.running.local_workers", []
    replace = resolve_name(f"{module}:LocalWorkers.replace")
    start_child = resolve_name(f"{module}:start_child")

    def late(_worker):
        wait_until(gate.with_suffix(".hangs").exists)
        raise WolfError("it is late")

    def replaced(run, key):
        monkeypatch.setattr(f"{module}._WorkerProcess.wait_ready", late)
        replace(run, key)
        gate.with_suffix(".over").touch()

    def noted(words, **settings):
        began.append(start_child(words, **settings))
        return began[-1]

    monkeypatch.setattr(f"{module}.LocalWorkers.replace", replaced)
    monkeypatch.setattr(f"{module}.start_child", noted)
    monkeypatch.setattr(f"{module}._CLOSE_S", 0.2)
    study = study_file(tmp_path, 'games = 4\nat_once = 2\nworkers = 2\nplayers = "tests.study.brains:Hangs*8"')
    run_here(study, "--out", out, code=0)
    assert len(began) == 3
    wait_until(lambda: all(process.poll() is not None for process in began))


def test_a_worker_whose_run_is_gone_before_it_said_how_to_play_says_so_in_one_line():
    words = (sys.executable, "-m", "wolfbus", "worker", "--child")
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    assert "the first line on stdin does not say how to play: " in done.stdout


def test_what_brains_of_workers_print_past_python_is_no_word_of_theirs(tmp_path, out):
    study = study_file(
        tmp_path, 'games = 4\nat_once = 2\nworkers = 2\nplayers = "tests.study.brains:Loud*1,scripted*7"'
    )
    ran = run(study, "--out", out)
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "asked" not in ran.stdout


def end_while_its_workers_stand_still(process):
    """Send SIGTERM, and return once the run has heard it: its workers could play all that is left meanwhile."""
    workers = workers_of(process.pid)
    assert workers
    for worker in workers:
        os.kill(worker, signal.SIGSTOP)
    process.send_signal(signal.SIGTERM)
    wait_until(lambda: all(awaits_its_end(worker) for worker in workers))
    for worker in workers:
        os.kill(worker, signal.SIGCONT)


def awaits_its_end(pid):
    """Return whether SIGTERM is waiting for a process that stands still."""
    (pending,) = re.findall(r"^ShdPnd:\s*([0-9a-f]+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return bool(int(pending, 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize(
    ("workers", "signals"),
    [
        ("1", [signal.SIGINT]),
        ("2", [signal.SIGINT]),
        ("1", [signal.SIGINT, signal.SIGINT]),
        ("2", [signal.SIGTERM]),
    ],
)
def test_ctrl_c_ends_the_games_under_way_and_again_leaves_them_and_says_how_to_go_on(
    midway, out, gate, whole, workers, signals
):
    process = midway("--workers", workers)
    if signals[0] == signal.SIGTERM:
        end_while_its_workers_stand_still(process)
    else:
        process.send_signal(signals[0])
        said = process.stderr.readline()
        line = r"wolfbus: (\d) games? under way, Ctrl-C again to stop now: they go on with --resume\n"
        under_way = int(re.fullmatch(line, said)[1])
        assert 0 < under_way <= 4
    before = games_over(out)
    for number in signals[1:]:
        process.send_signal(number)
    # a brain that thinks holds its process up
    gate.touch()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    last = error.strip().splitlines()[-1]
    assert last.startswith("wolfbus: interrupted;")
    assert last.endswith(f"wolfbus run --resume --out {out}")
    study = manifest(out)
    assert not study["complete"]
    assert study["totals"]["pending"] == 16 - study["totals"]["ended"] > 0
    assert study["totals"]["failed"] == 0
    # of a game that was not played all stands there that is planned of it, but its seed
    left = next(game for game in study["games"] if game["state"] == "pending")
    planned = manifest(whole)["games"][left["number"] - 1]
    unknown = dict.fromkeys(("winner", "rounds", "digest", "head", "error", "seconds"))
    del planned["seed"]
    assert left == {**planned, **unknown, "state": "pending"}
    # what is there is whole, or is gone on with
    ended, records = study["totals"]["ended"], len(times_of(out))
    # once the gate is open, a game may end before its process hears that it is to stop
    assert records == ended if signals == [signal.SIGINT] else ended <= records <= ended + 4
    assert signals != [signal.SIGINT] or ended <= before + under_way
    resume(out, "--workers", "1")
    assert_like(whole, out)
