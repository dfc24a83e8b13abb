"""A study shared out over a Redis or a cluster: workers and nodes come and go, are killed, and every game is played and
counted once.
"""

from __future__ import annotations

import re
import signal
import subprocess
from contextlib import closing
from functools import partial
from types import SimpleNamespace

import pytest

from tests.study.gate import GATE
from tests.study.runs import (
    ENVIRONMENT,
    STUDY,
    WOLFBUS,
    assert_like,
    begin,
    journal_lines,
    manifest,
    run_here,
    run_here_while,
    study_file,
)
from tests.waiting import wait_until
from wolfbus.bus import open_bus, streams
from wolfbus.study.plan import PlannedGame
from wolfbus.study.redis_agenda import GROUP, LEASE_S, RedisAgenda
from wolfbus.testing.redis_server import RedisServer

AGENDA = "shared"
ENDED = SimpleNamespace(error=None, seconds=1.0)


class Workers:
    """Processes that each play three games of the agenda, and hold the next ones up until the gate is open."""

    def __init__(self, url, gate, lease, *more):
        self._words = [*WOLFBUS, "worker", "--bus", url, "--agenda", AGENDA, "--lease", lease, *more]
        self._environment = {**ENVIRONMENT, GATE: str(gate)}
        self.all = []

    def start(self):
        self.all.append(
            subprocess.Popen(
                self._words, stderr=subprocess.PIPE, text=True, env=self._environment, start_new_session=True
            )
        )
        return self.all[-1]

    def close(self):
        for each in self.all:
            if each.poll() is None:
                each.kill()
            each.communicate()


@pytest.fixture
def workers(redis_url, gate):
    with closing(Workers(redis_url, gate, "1")) as workers:
        yield workers


@pytest.fixture
def share(redis_url):
    return ("--bus", redis_url, "--share", AGENDA)


def assert_through(done, worker, whole, out):
    """The run and a worker have ended well, and each game was counted once."""
    assert done.returncode == 0, done.stderr
    assert worker.wait(30) == 0
    assert_like(whole, out)
    assert journal_lines(out) == 16


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_whichever_worker_goes_every_game_is_played_once(study, out, gate, whole, share, workers, bus, end):
    first, second = workers.start(), workers.start()

    def go():
        wait_until(lambda: journal_lines(out) >= 4, 60)
        # both are in the middle of games, which wait at the gate
        first.send_signal(end)
        told.append(first.communicate(timeout=30)[1])
        gate.touch()

    told: list[str] = []
    assert_through(run_here_while(go, study, "--out", out, *share), second, whole, out)
    told.append(second.stderr.read())
    assert first.returncode == (-9 if end is signal.SIGKILL else 0)
    why = ["SIGTERM"] * (end is signal.SIGTERM) + ["it has no more games"]
    assert re.findall(r"^wolfbus: this worker leaves agenda shared: (.*)$", "".join(told), re.MULTILINE) == why
    assert bus.last_id(streams.house_key(AGENDA, "agenda:results")) == "0-0"


def test_two_servers_and_a_memory_share_a_study_and_a_worker_and_a_server_may_die(
    study, out, gate, whole, share, redis_url, bus
):
    with (
        RedisServer() as other,
        closing(Workers(redis_url, gate, "1", "--play-on", f"{other.url}?patience=0.3")) as there,
        closing(Workers(redis_url, gate, "1", "--play-on", "memory://")) as here,
    ):
        killed, cut_off, stays = there.start(), there.start(), here.start()

        def die():
            wait_until(lambda: journal_lines(out) >= 4, 60)
            killed.kill()
            other.kill()
            gate.touch()

        assert_through(run_here_while(die, study, "--out", out, *share), stays, whole, out)
        _, error = cut_off.communicate(timeout=30)
        assert cut_off.returncode == 1
        assert error.splitlines()[-1].startswith("wolfbus: Redis at 127.0.0.1")
    assert bus.last_id(streams.house_key(AGENDA, "agenda:results")) == "0-0"


def test_a_run_that_is_killed_goes_on_with_the_agenda_and_the_workers_that_stayed(
    study, out, gate, whole, share, workers
):
    run, worker = begin(study, "--out", out, *share), workers.start()
    wait_until(lambda: journal_lines(out) >= 2, 60)
    run.kill()
    run.communicate()
    gate.touch()
    assert_through(run_here("--resume", "--out", out, *share), worker, whole, out)


def test_another_study_cannot_have_the_same_agenda(study, out, share, agenda):
    done = run_here(study, "--out", out, *share, code=2)
    assert done.stderr.startswith(f"wolfbus: agenda {AGENDA} has the games of another study")


def test_an_agenda_that_its_redis_has_lost_halts_the_run_and_ends_its_workers(study, out, gate, share, workers, agenda):
    def lose():
        wait_until(lambda: journal_lines(out) >= 2, 60)
        agenda.remove()
        gate.touch()

    agenda.remove()
    worker = workers.start()
    done = run_here_while(lose, study, "--out", out, *share)
    assert done.returncode == 1
    assert "the agenda is gone" in done.stderr
    assert "--share shared" in done.stderr
    assert worker.wait(30) == 0


@pytest.mark.parametrize("more", [["--bus", "memory://"], ["--house", "main"], ["--workers", "2"]])
def test_options_that_do_not_go_with_sharing_are_refused(study, out, share, more):
    done = run_here(study, "--out", out, *share, *more, code=2)
    assert "--share" in done.stderr


# -- the agenda itself


@pytest.fixture
def agenda(redis_url):
    with closing(RedisAgenda(redis_url, AGENDA, lease_s=0.2)) as agenda:
        agenda.planned = lambda number: PlannedGame(number, f"g-{number}", "", "", ())
        agenda.open("study-1", "games = 3")
        yield agenda


def take(agenda, house, at_most=9):
    found = []
    wait_until(lambda: bool(found.extend(agenda.take(house, at_most)) or found), 10)
    return found


def test_the_first_who_finishes_a_game_counts_and_the_other_is_told(agenda):
    agenda.post([1, 2, 3])
    agenda.post([2, 3])
    (slow,) = take(agenda, "slow", 1)
    assert (slow.game.number, slow.times, slow.house) == (1, 0, "")
    assert [each.game.number for each in agenda.take("quick", 9)] == [2, 3]
    agenda.hold("quick", [each.entry for each in agenda.take("quick", 9)])
    found = next(each for each in take(agenda, "quick") if each.game.number == 1)
    assert (found.house, found.times) == ("slow", 1)
    assert agenda.finish(found, "quick", ENDED)
    assert not agenda.finish(slow, "slow", ENDED)
    # said again after a break, it still counts
    assert agenda.finish(found, "quick", ENDED)
    assert [each.house for _, each in agenda.results("0-0")] == ["quick"]


@pytest.mark.parametrize("meanwhile", ["finished", "removed"])
def test_a_game_that_is_over_while_it_is_taken_is_taken_by_nobody(agenda, monkeypatch, meanwhile):
    agenda.post([1])
    (slow,) = take(agenda, "slow")
    agenda.give_back("slow", slow.entry)
    asked = agenda._of_group

    def claimed(*words):
        found = asked(*words)
        if words[0] == "XAUTOCLAIM":
            agenda.finish(slow, "slow", ENDED) if meanwhile == "finished" else agenda.remove()
        return found

    monkeypatch.setattr(agenda, "_of_group", claimed)
    assert agenda.take("quick", 1) == []


def test_what_is_given_back_is_there_at_once_and_what_is_held_is_not(agenda):
    agenda.post([1])
    (taken,) = take(agenda, "a")
    agenda.give_back("a", taken.entry)
    assert [each.game.number for each in agenda.take("b", 9)] == [1]
    agenda.remove()
    assert not agenda.is_open


def test_the_lease_of_the_first_worker_holds_for_all_so_that_none_takes_from_one_that_lives(agenda, redis_url):
    with closing(RedisAgenda(redis_url, AGENDA)) as first, closing(RedisAgenda(redis_url, AGENDA, 0.001)) as hasty:
        assert first.agree()
        agenda.post([1])
        first.planned = hasty.planned = agenda.planned
        (taken,) = take(first, "first")
        assert not hasty.agree()
        assert hasty.lease_s == LEASE_S
        agenda._of_group("XCLAIM", agenda._agenda, GROUP, "first", "0", taken.entry, "IDLE", "5000", "JUSTID")
        assert hasty.take("hasty", 1) == []
        agenda.remove()
        # of another agenda under this name nothing is agreed yet
        agenda.open("study-2", "games = 1")
        assert hasty.agree()


# -- on a Redis Cluster of three nodes


def test_a_killed_moderator_and_killed_nodes_cost_no_game_and_double_none(study, out, gate, whole, cluster):
    with closing(Workers(cluster.url, gate, "1.5")) as workers, closing(open_bus(cluster.url)) as bus:
        first, second = workers.start(), workers.start()

        def die():
            wait_until(lambda: journal_lines(out) >= 4, 60)
            keys = b"".join(node.command("KEYS", "*") for node in cluster.masters)
            houses = {house.decode() for house in re.findall(rb"wolf:\{([^}]+)\}:owner\r", keys)}
            assert len(houses) == 2
            # both are in the middle of games, which wait at the gate
            first.kill()
            agenda = cluster.serving(streams.house_key(AGENDA, "agenda"))
            for node in (agenda, *({cluster.serving(streams.owner(house)) for house in houses} - {agenda})):
                node.kill()
                node.start()
            gate.touch()

        done = run_here_while(die, study, "--out", out, "--bus", cluster.url, "--share", AGENDA)
        assert_through(done, second, whole, out)
        assert bus.last_id(streams.house_key(AGENDA, "agenda:results")) == "0-0"


def has_grown(out, lines):
    return journal_lines(out) >= lines


@pytest.mark.soak
def test_whatever_is_killed_in_turns_every_game_is_played_once(tmp_path, out, gate, cluster):
    games = 80
    study = study_file(tmp_path, STUDY.replace("games = 16", f"games = {games}"))
    gate.touch()
    with closing(Workers(cluster.url, gate, "1.5")) as workers:
        run = begin(study, "--out", out, "--bus", cluster.url, "--share", AGENDA)
        for _ in range(3):
            workers.start()
        # a game counts as failed once three have died under it
        for number, node in enumerate((*cluster.masters, *cluster.masters)):
            wait_until(partial(has_grown, out, 6 * (number + 1)), 60)
            node.kill()
            if number in {1, 3}:
                workers.all[number // 2].kill()
                workers.start()
            node.start()
        _, error = run.communicate(timeout=200)
        assert run.returncode == 0, error
    assert journal_lines(out) == games
    assert len({game["game"] for game in manifest(out)["games"] if game["state"] == "ended"}) == games
