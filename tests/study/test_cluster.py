"""A study on a Redis Cluster of three nodes: moderators and nodes are killed, and every game is played once."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from players.llm.budget import Amount
from players.llm.redis_budget import RedisBudget
from tests.study.gate import GATE
from tests.study.runs import (
    ENVIRONMENT,
    STUDY,
    WOLFBUS,
    assert_like,
    begin,
    journal_lines,
    manifest,
    study_file,
    wait_for,
)
from wolfbus.bus import open_bus
from wolfbus.bus.streams import house_key, owner
from wolfbus.testing.redis_server import RedisClusterServers, RedisServer

AGENDA = "shared"


@pytest.fixture(scope="module")
def cluster(redis_server: RedisServer) -> Iterator[RedisClusterServers]:
    with RedisClusterServers() as cluster:
        yield cluster


def test_a_budget_is_kept_on_a_cluster_as_on_one_redis(cluster):
    with closing(RedisBudget(cluster.url, "other", None, 100)) as budget:
        budget.open(Amount(Decimal(), 0))
        assert budget.reserve("a", 1, Amount(Decimal(), 80), "a call").word == "done"
        assert budget.reserve("b", 1, Amount(Decimal(), 30), "a call").word == "wait"
        budget.settle("a", 1, Amount(Decimal(), 60))
        assert budget.look().spent.tokens == 60
        budget.remove()


class Moderators:
    """Processes that each play games of the agenda in a house of their own."""

    def __init__(self, url: str, gate: Path) -> None:
        self._words = [*WOLFBUS, "worker", "--bus", url, "--agenda", AGENDA, "--lease", "1.5"]
        self._environment = {**ENVIRONMENT, GATE: str(gate)}
        self.all: list[subprocess.Popen[str]] = []

    def start(self) -> subprocess.Popen[str]:
        started = subprocess.Popen(
            self._words, stderr=subprocess.PIPE, text=True, env=self._environment, start_new_session=True
        )
        self.all.append(started)
        return started

    def close(self) -> None:
        for each in self.all:
            if each.poll() is None:
                each.kill()
            each.communicate()


def test_a_killed_moderator_and_killed_nodes_cost_no_game_and_double_none(study, out, gate, whole, cluster):
    with closing(Moderators(cluster.url, gate)) as moderators, closing(open_bus(cluster.url)) as bus:
        run = begin(study, "--out", out, "--bus", cluster.url, "--share", AGENDA)
        first, second = moderators.start(), moderators.start()
        wait_for(lambda: journal_lines(out) >= 4)
        houses = bus.houses()
        assert len(houses) == 2
        # both are in the middle of games, which wait at the gate
        first.kill()
        agenda = cluster.serving(house_key(AGENDA, "agenda"))
        others = {cluster.serving(owner(house)) for house in houses} - {agenda}
        for node in (agenda, *others):
            node.kill()
            node.start()
        gate.touch()
        _, error = run.communicate(timeout=100)
        assert run.returncode == 0, error
        assert second.wait(30) == 0
        assert_like(whole, out)
        assert journal_lines(out) == 16
        assert bus.last_id(house_key(AGENDA, "agenda:results")) == "0-0"


def has_grown(out: Path, lines: int) -> bool:
    return journal_lines(out) >= lines


@pytest.mark.soak
def test_whatever_is_killed_in_turns_every_game_is_played_once(tmp_path, out, gate, cluster):
    games = 80
    study = study_file(tmp_path, STUDY.replace("games = 16", f"games = {games}"))
    gate.touch()
    with closing(Moderators(cluster.url, gate)) as moderators:
        run = begin(study, "--out", out, "--bus", cluster.url, "--share", AGENDA)
        for _ in range(3):
            moderators.start()
        # a game counts as failed once three have died under it
        for number, node in enumerate((*cluster.masters, *cluster.masters)):
            wait_for(partial(has_grown, out, 6 * (number + 1)))
            node.kill()
            if number in {1, 3}:
                moderators.all[number // 2].kill()
                moderators.start()
            node.start()
        _, error = run.communicate(timeout=200)
        assert run.returncode == 0, error
    assert journal_lines(out) == games
    assert len({game["game"] for game in manifest(out)["games"] if game["state"] == "ended"}) == games
