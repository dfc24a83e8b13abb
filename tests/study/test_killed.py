"""Studies that are killed and interrupted in their middle, in one process and in two, and go on."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.study.runs import (
    assert_like,
    begin,
    children_of,
    journal_lines,
    manifest,
    run_here,
    wait_for,
)


def test_a_run_that_is_killed_goes_on_where_it_was(study, out, gate, whole):
    process = begin(study, "--out", out, gate=gate)
    wait_for(lambda: journal_lines(out) >= 2)
    process.kill()
    process.communicate()
    played = journal_lines(out)
    assert played < 16
    # the last of the journal's lines may be half there
    with (out / "journal.jsonl").open("rb+") as journal:
        journal.truncate(journal.seek(0, os.SEEK_END) - 20)
    before = {path.name: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    done = run_here("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert_like(whole, out)
    kept = [path for path in (out / "records").iterdir() if before.get(path.name) == path.stat().st_mtime_ns]
    assert len(kept) >= played


def test_workers_die_with_their_parent_and_the_study_goes_on(study, out, gate, whole):
    process = begin(study, "--out", out, "--workers", "2", gate=gate)
    wait_for(lambda: journal_lines(out) >= 2)
    workers = children_of(process.pid)
    assert len(workers) == 2
    process.kill()
    process.communicate()
    # resuming waits for them, since they hold the folder too
    done = run_here("--resume", "--out", out, "--workers", "1")
    assert done.returncode == 0, done.stderr
    wait_for(lambda: not any(Path(f"/proc/{worker}/stat").exists() and _lives(worker) for worker in workers))
    assert_like(whole, out)


def _lives(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def test_a_worker_that_is_killed_is_replaced_and_its_games_are_played_again(study, out, gate, whole):
    process = begin(study, "--out", out, "--workers", "2", gate=gate)
    wait_for(lambda: journal_lines(out) >= 2)
    os.kill(children_of(process.pid)[0], signal.SIGKILL)
    gate.touch()
    _, error = process.communicate(timeout=100)
    assert process.returncode == 0, error
    assert_like(whole, out)


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_ends_at_once_with_a_line_that_says_how_to_go_on(study, out, gate, whole, workers):
    process = begin(study, "--out", out, "--workers", workers, gate=gate)
    wait_for(lambda: journal_lines(out) >= 2)
    process.send_signal(signal.SIGINT)
    # a brain that thinks holds its process up
    gate.touch()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    last = error.strip().splitlines()[-1]
    assert last.startswith("wolfbus: interrupted;")
    assert last.endswith(f"wolfbus run --resume --out {out}")
    told = manifest(out)
    assert not told["complete"]
    assert told["totals"]["pending"] == 16 - told["totals"]["ended"] > 0
    assert told["totals"]["failed"] == 0
    # what is there is whole
    assert len(list((out / "records").iterdir())) == told["totals"]["ended"]
    done = run_here("--resume", "--out", out)
    assert done.returncode == 0, done.stderr
    assert_like(whole, out)


def test_a_folder_takes_one_run_at_a_time(study, out, gate):
    process = begin(study, "--out", out, gate=gate)
    wait_for(lambda: journal_lines(out) >= 2)
    # so that it is still there, however long the other takes to start
    process.send_signal(signal.SIGSTOP)
    second = run_here(study, "--out", out, "--resume")
    process.kill()
    process.communicate()
    assert second.returncode == 1
    assert f"process {process.pid} is playing this study" in second.stderr
