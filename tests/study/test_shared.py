"""A study shared out over a Redis: workers come and go, are killed, and every game is played and counted once."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.study.gate import GATE
from tests.study.runs import (
    ENVIRONMENT,
    WOLFBUS,
    assert_like,
    begin,
    journal_lines,
    run_here,
    wait_for,
)
from wolfbus.bus.streams import house_key
from wolfbus.study.agenda import Taken
from wolfbus.study.journal import GameResult
from wolfbus.study.shared_agenda import SharedAgenda

AGENDA = "shared"
ENDED = GameResult(number=1, game="g-1", state="ended")
Work = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def work(redis_url: str, gate: Path) -> Iterator[Work]:
    """Start a worker, by default one that plays three games and holds the next ones up until the gate is open."""
    started: list[subprocess.Popen[str]] = []

    def start(*more: str) -> subprocess.Popen[str]:
        words = [*WOLFBUS, "worker", "--bus", redis_url, "--agenda", AGENDA, "--lease", "1", *more]
        environment = {**ENVIRONMENT, GATE: str(gate)}
        worker = subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=environment, start_new_session=True)
        started.append(worker)
        return worker

    yield start
    for worker in started:
        if worker.poll() is None:
            worker.kill()
        worker.communicate()


@pytest.fixture
def share(redis_url: str) -> tuple[str, ...]:
    return ("--bus", redis_url, "--share", AGENDA)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_whichever_worker_goes_every_game_is_played_once(study, out, gate, whole, share, work, bus, end):
    run = begin(study, "--out", out, *share)
    workers = [work(), work()]
    wait_for(lambda: journal_lines(out) >= 4)
    # both are in the middle of games, which wait at the gate
    workers[0].send_signal(end)
    workers[0].communicate(timeout=30)
    gate.touch()
    _, error = run.communicate(timeout=100)
    assert run.returncode == 0, error
    assert workers[1].wait(30) == 0
    assert workers[0].returncode == (-9 if end is signal.SIGKILL else 0)
    assert_like(whole, out)
    assert journal_lines(out) == 16
    assert bus.last_id(house_key(AGENDA, "agenda:results")) == "0-0"


def test_a_run_that_is_killed_goes_on_with_the_agenda_and_the_workers_that_stayed(study, out, gate, whole, share, work):
    run = begin(study, "--out", out, *share)
    worker = work()
    wait_for(lambda: journal_lines(out) >= 2)
    run.kill()
    run.communicate()
    gate.touch()
    done = run_here("--resume", "--out", out, *share)
    assert done.returncode == 0, done.stderr
    assert worker.wait(30) == 0
    assert_like(whole, out)
    assert journal_lines(out) == 16


def test_another_study_cannot_have_the_same_agenda(study, out, share, agenda):
    done = run_here(study, "--out", out, *share)
    assert done.returncode == 2
    assert done.stderr.startswith(f"wolfbus: agenda {AGENDA} has the games of another study")


def test_an_agenda_that_its_redis_has_lost_halts_the_run_and_ends_its_workers(study, out, gate, share, work, agenda):
    agenda.remove()
    run = begin(study, "--out", out, *share)
    worker = work()
    wait_for(lambda: journal_lines(out) >= 2)
    agenda.remove()
    gate.touch()
    _, error = run.communicate(timeout=60)
    assert run.returncode == 1
    assert "the agenda is gone" in error
    assert "--share shared" in error
    assert worker.wait(30) == 0


def test_options_that_do_not_go_with_sharing_are_refused(study, tmp_path, share):
    for more in (["--bus", "memory://"], ["--house", "main"], ["--workers", "2"]):
        done = run_here(study, "--out", tmp_path / "a", *share, *more)
        assert done.returncode == 2, more
        assert "--share" in done.stderr


# -- the agenda itself


@pytest.fixture
def agenda(redis_url: str) -> Iterator[SharedAgenda]:
    agenda = SharedAgenda(redis_url, AGENDA, lease_s=0.2)
    agenda.open("study-1", "games = 3")
    yield agenda
    agenda.close()


def take(agenda: SharedAgenda, house: str, at_most: int = 9) -> list[Taken]:
    found: list[Taken] = []
    wait_for(lambda: bool(found.extend(agenda.take(house, at_most)) or found), 10)
    return found


def test_the_first_who_finishes_a_game_counts_and_the_other_is_told(agenda):
    agenda.post([1, 2, 3])
    agenda.post([2, 3])
    (slow,) = take(agenda, "slow", 1)
    assert (slow.number, slow.times, slow.house) == (1, 0, "")
    assert [each.number for each in agenda.take("quick", 9)] == [2, 3]
    agenda.hold("quick", [each.entry for each in agenda.take("quick", 9)])
    found = next(each for each in take(agenda, "quick") if each.number == 1)
    assert (found.house, found.times) == ("slow", 1)
    assert agenda.finish(found, "quick", ENDED)
    assert not agenda.finish(slow, "slow", ENDED)
    # said again after a break, it still counts
    assert agenda.finish(found, "quick", ENDED)
    assert [each.house for _, each in agenda.results("0-0")] == ["quick"]


def test_what_is_given_back_is_there_at_once_and_what_is_held_is_not(agenda):
    agenda.post([1])
    (taken,) = take(agenda, "a")
    agenda.give_back("a", taken.entry)
    assert [each.number for each in agenda.take("b", 9)] == [1]
    agenda.remove()
    assert not agenda.is_open
