"""A shared study whose Redis is full, stands still, or has lost what it had: run and workers wait for it, say so, and
every game is played and counted once.
"""

from __future__ import annotations

import os
import pkgutil
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from functools import partial

import pytest

from tests.golden.running import wolfbus as command
from tests.study.runs import (
    ENVIRONMENT,
    STUDY,
    WOLFBUS,
    assert_like,
    begin,
    journal_lines,
    meanwhile,
    run_here,
    run_here_while,
    study_file,
)
from tests.study.test_shared import AGENDA, ALLOW, KEYS, Workers, has_grown
from tests.waiting import wait_until
from wolfbus import cli
from wolfbus.bus import streams
from wolfbus.errors import BusDown
from wolfbus.testing.redis_server import RedisServer

WAITING = "waiting for it, as long as it takes"
BACK = "it is back after"
GONE = "the agenda is gone: its Redis has lost its data, or somebody has removed it"


@pytest.fixture
def server(redis_server):
    """A Redis of its own; `redis_server` is asked for to skip where there is none."""
    with RedisServer() as server:
        yield server


@pytest.fixture
def url(server):
    return f"{server.url}?patience=0.5"


@pytest.fixture
def workers(url, gate):
    with closing(Workers(url, gate, "1")) as workers:
        yield workers


@contextmanager
def full(server):
    server.command("CONFIG", "SET", "maxmemory", "1")
    yield
    server.command("CONFIG", "SET", "maxmemory", "0")


@contextmanager
def standing_still(server):
    pid = int(re.search(rb"process_id:(\d+)", server.command("INFO", "server"))[1])
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def killed_with_all_that_it_had(server):
    server.kill()
    yield
    server.start()


def heard_until(process, pattern):
    """Return what a process says up to the first line that has a pattern."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if pattern in line:
            return "".join(lines)
    raise AssertionError(f"it ended without {pattern}")


def test_a_redis_that_is_away_is_waited_for_and_every_game_is_played_once(
    study, out, gate, whole, server, url, workers
):
    first, second = workers.start(), workers.start("--play-on", "memory://")
    run = begin(study, "--out", out, "--bus", url, "--share", AGENDA)
    try:
        wait_until(lambda: journal_lines(out) >= 4)
        # a run has nothing to write while it waits for results
        for outage, waiting in ((full, (first, second)), (standing_still, (first, second, run))):
            with outage(server):
                for process in waiting:
                    assert GONE not in heard_until(process, WAITING)
            for process in waiting:
                assert GONE not in heard_until(process, BACK)
        with killed_with_all_that_it_had(server):
            for process in (first, second, run):
                heard_until(process, WAITING)
        gate.touch()
        _, error = run.communicate(timeout=100)
    finally:
        run.kill()
        run.communicate()
    assert run.returncode == 0, error
    assert GONE in error
    for worker in (first, second):
        assert worker.wait(60) == 0, worker.stderr.read()
    assert_like(whole, out)
    assert journal_lines(out) == 16


def test_a_game_that_its_redis_could_not_note_as_begun_is_noted_once_it_can(tmp_path, out, url, monkeypatch):
    agenda = pkgutil.resolve_name("wolfbus.study.redis_agenda:RedisAgenda")
    begin_game, begun = agenda.begin, []

    def away_once(self, claimed, house, progress):
        begun.append((claimed.entry, house))
        if len(begun) == 1:
            raise BusDown("Redis is away")
        begin_game(self, claimed, house, progress)

    monkeypatch.setattr(agenda, "begin", away_once)
    monkeypatch.setattr("wolfbus.running.agenda_worker.PAUSE_S", 0.01)
    run = begin(study_file(tmp_path, "games = 2"), "--out", out, "--bus", url, "--share", AGENDA)
    try:
        assert cli.run(["worker", "--bus", url, "--agenda", AGENDA]) == 0
        assert run.wait(30) == 0
    finally:
        run.kill()
        run.communicate()
    assert begun[:2] == [begun[0]] * 2, "else whoever takes it from this worker begins it anew"
    assert len(begun) == 3


def test_whoever_waits_for_a_redis_ends_at_once_when_asked_to(study, out, server, url, workers):
    worker = workers.start()
    run = begin(study, "--out", out, "--bus", url, "--share", AGENDA)
    try:
        wait_until(lambda: journal_lines(out) >= 1)
        with standing_still(server):
            for process in (worker, run):
                heard_until(process, WAITING)
                process.terminate()
            assert worker.wait(30) == 0
            assert run.wait(30) == 130
    finally:
        run.kill()
        run.communicate()


def test_a_worker_whose_agenda_is_lost_for_good_says_so_and_fails(study, out, server, url, monkeypatch, capsys):
    monkeypatch.setattr("wolfbus.running.agenda_worker._GONE_S", 0.3)
    running = begin(study, "--out", out, "--bus", url, "--share", AGENDA)
    wait_until(lambda: server.command("SCARD", KEYS[1]) == b":16\r\n")

    def lose():
        wait_until(lambda: server.command("ZCARD", KEYS[6]) != b":0\r\n")
        running.kill()
        running.communicate()
        server.command("FLUSHALL")

    with meanwhile(lose):
        assert cli.run(["worker", "--bus", url, "--agenda", AGENDA, *ALLOW]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == f"wolfbus: {GONE}"


def test_games_that_an_agenda_has_lost_are_put_on_it_again(study, out, gate, whole, server, url, workers):
    worker = workers.start()

    def evict():
        wait_until(lambda: journal_lines(out) >= 2)
        # as an eviction would: all but the study itself
        server.command("DEL", *KEYS[:-1])
        gate.touch()

    done = run_here_while(evict, study, "--out", out, "--bus", url, "--share", AGENDA)
    assert done.returncode == 0, done.stderr
    assert worker.wait(60) == 0
    assert_like(whole, out)


def spent_tokens(folder):
    return [int(spent) for spent in re.findall(r'"spent_tokens": ?([0-9]+)', (folder / "journal.jsonl").read_text())]


def test_what_is_spent_of_a_budget_that_its_redis_has_lost_stays_spent(study, out, gate, server, url, workers):
    worker = workers.start()
    budget = streams.house_key(AGENDA, "agenda:budget")

    def lose():
        wait_until(lambda: journal_lines(out) >= 2)
        server.command("HSET", budget, "spent_tokens", "400")
        wait_until(lambda: 400 in spent_tokens(out))
        server.command("DEL", budget)
        wait_until(lambda: b"400" in server.command("HGET", budget, "spent_tokens"))
        gate.touch()

    words = (study, "--out", out, "--bus", url, "--share", AGENDA, "--budget-tokens", "1000")
    done = run_here_while(lose, *words)
    assert done.returncode == 0, done.stderr
    assert worker.wait(60) == 0, worker.stderr.read()
    assert spent_tokens(out)[-1] == 400


def test_a_run_whose_redis_is_full_when_all_is_played_waits_to_remove_its_agenda(
    study, out, gate, server, url, workers
):
    worker = workers.start()
    run = begin(study, "--out", out, "--bus", url, "--share", AGENDA)
    try:
        wait_until(lambda: journal_lines(out) >= 1)
        run.send_signal(signal.SIGSTOP)
        gate.touch()
        wait_until(lambda: server.command("XLEN", KEYS[0]) == b":0\r\n")
        with full(server):
            run.send_signal(signal.SIGCONT)
            heard_until(run, WAITING)
        _, error = run.communicate(timeout=60)
    finally:
        run.kill()
        run.communicate()
    assert run.returncode == 0, error
    assert worker.wait(60) == 0, worker.stderr.read()


def test_a_run_that_nobody_plays_says_so_and_says_who_comes(study, out, gate, server, url, workers, monkeypatch):
    for name in ("_ALONE_S", "_CHECK_S"):
        monkeypatch.setattr(f"wolfbus.running.agenda_executor.{name}", 0.1)

    def come():
        wait_until(lambda: server.command("EXISTS", KEYS[-1]) == b":1\r\n")
        # the run has begun, so that this is what it prints
        wait_until(lambda: "no worker for" in sys.stderr.getvalue())
        workers.start()
        wait_until(lambda: journal_lines(out) >= 1)
        gate.touch()

    done = run_here_while(come, study, "--out", out, "--bus", url, "--share", AGENDA)
    assert done.returncode == 0, done.stderr
    alone, _, rest = done.stderr.partition("1 worker on the agenda")
    assert "no worker for 0.1 s: 16 games wait for one" in alone
    assert rest


@contextmanager
def worker_killed(server, workers):
    workers.all[-3].kill()
    yield
    before = playing(server)
    workers.start()
    # one that comes when all is played waits for the next study of that name
    wait_until(lambda: playing(server) - before)


def playing(server):
    """Return the houses of workers that have asked for games."""
    return set(re.findall(rb"shared~[0-9a-f]{8}", server.command("ZRANGE", KEYS[6], "0", "-1")))


@contextmanager
def worker_standing_still(_server, workers):
    worker = workers.all[-1]
    worker.send_signal(signal.SIGSTOP)
    yield
    worker.send_signal(signal.SIGCONT)


BREAKS = (
    lambda server, _: full(server),
    lambda server, _: standing_still(server),
    lambda server, _: killed_with_all_that_it_had(server),
    worker_killed,
    worker_standing_still,
)


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_study_under_thirty_breaks_of_every_kind_is_played_once_and_proven(tmp_path, out, gate, server, url, workers):
    games = 700
    study = study_file(tmp_path, STUDY.replace("games = 16", f"games = {games}"))
    gate.touch()
    run = begin(study, "--out", out, "--bus", url, "--share", AGENDA)
    try:
        for more in ((), ("--play-on", "memory://"), ()):
            workers.start(*more)
        for number in range(30):
            wait_until(partial(has_grown, out, 6 * number + 1))
            with BREAKS[number % len(BREAKS)](server, workers):
                # longer than anybody's patience
                threading.Event().wait(1.5)
        _, error = run.communicate(timeout=300)
    finally:
        run.kill()
        run.communicate()
    assert run.returncode == 0, error
    assert [worker.wait(60) for worker in workers.all[-3:]] == [0, 0, 0]
    assert journal_lines(out) == games
    done = command(tmp_path, "verify", str(out), "--prove")
    assert done.code == 0, done.out + done.err


def test_a_redis_that_evicts_is_warned_of_by_whoever_shares_a_study_or_plays_on_it(tmp_path, caplog):
    words, line = ("--games", "1", "--out"), "(maxmemory-policy allkeys-lru), which breaks games"
    with RedisServer("--maxmemory-policy", "allkeys-lru") as server:
        run_here(*words, tmp_path / "alone", "--bus", server.url, code=0)
        assert caplog.text.count(line) == 1
        with subprocess.Popen(
            [*WOLFBUS, "worker", "--bus", server.url, "--agenda", AGENDA],
            env=ENVIRONMENT,
            stderr=subprocess.PIPE,
            text=True,
        ) as worker:
            run_here(*words, tmp_path / "shared", "--bus", server.url, "--share", AGENDA, code=0)
            assert worker.communicate(timeout=60)[1].count(line) == 1
    assert caplog.text.count(line) == 2
