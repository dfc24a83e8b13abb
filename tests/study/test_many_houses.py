"""A study whose games several houses share, on servers of their own or on a cluster: every game is played once."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from tests.study.houses import PAIR, assert_like_of_house, players
from tests.study.runs import begin, manifest, run_here
from tests.waiting import wait_until
from wolfbus.bus import open_bus, streams
from wolfbus.testing.redis_server import RedisClusterServers, RedisServer


@pytest.fixture
def servers() -> Iterator[list[RedisServer]]:
    with RedisServer() as one, RedisServer() as two:
        yield [one, two]


def at(*addresses):
    """Return options for houses, each given as NAME@URL."""
    return [word for address in addresses for word in ("--house", address)]


def records(out):
    return list((out / "records").glob("*.ndjson"))


def played_at(url, house, games):
    """Return which games a house has records of."""
    with contextlib.closing(open_bus(url)) as bus:
        return {game for game in games if bus.last_id(streams.record(house, game)) != "0-0"}


def assert_shared(out, *houses):
    """Both houses played, and no game was played in both."""
    games = {game["game"] for game in manifest(out)["games"]}
    one, two = (played_at(url, house, games) for url, house in houses)
    assert one
    assert two
    assert one | two == games
    assert not one & two


def test_two_servers_share_a_study_whose_run_is_killed_and_goes_on(study, out, gate, whole, servers):
    urls = [server.url for server in servers]
    houses = [f"{name}@{url}" for name, url in zip("ab", urls, strict=True)]
    with players(urls[0], *PAIR, gate=gate, house="a"), players(urls[1], *PAIR, gate=gate, house="b"):
        running = begin(study, "--out", out, *at(*houses))
        # both houses are in the middle of games, which wait at the gate
        wait_until(lambda: len(records(out)) >= 6, 60)
        running.kill()
        running.communicate()
        gate.touch()
        # in another order: a game stays where it was begun
        done = run_here("--resume", "--out", out, *at(*reversed(houses)))
        assert done.returncode == 0, done.stderr
    assert_like_of_house(whole, out, "b, a")
    assert_shared(out, *zip(urls, "ab", strict=True))


def test_a_server_that_loses_its_data_keeps_its_games_to_the_next_run_and_the_other_plays_on(
    study, out, gate, whole, servers
):
    urls = [server.url for server in servers]
    left, lost = (f"{name}@{url}" for name, url in zip("ab", urls, strict=True))
    with players(urls[0], *PAIR, gate=gate, house="a"):
        with players(urls[1], *PAIR, gate=gate, house="b"):
            running = begin(study, "--out", out, *at(left, lost))
            wait_until(lambda: len(records(out)) >= 6, 60)
            servers[1].kill()
            servers[1].start()
            gate.touch()
            _, error = running.communicate(timeout=60)
        assert running.returncode == 1
        assert "wolfbus: house b@redis://127.0.0.1:" in error
        assert "the other houses play on" in error
        reason, hint = error.splitlines()[-1].split("; go on with: ")
        assert "left with house b@redis://127.0.0.1:" in reason
        assert hint == f"wolfbus run --resume --out {out} --house {left} --house {lost}"
        played = manifest(out)["totals"]["ended"]
        assert played >= 16 - 5
        # the house that is left plays them anew, since nobody knows what became of them
        with players(urls[0], *PAIR, house="a"):
            done = run_here("--resume", "--out", out, *at(left))
        assert done.returncode == 0, done.stderr
    assert_like_of_house(whole, out, "a")


def test_houses_of_one_cluster_share_a_study(study, out, whole):
    with (
        RedisClusterServers() as cluster,
        players(cluster.url, *PAIR, house="a"),
        players(cluster.url, *PAIR, house="b"),
    ):
        done = run_here(study, "--out", out, "--bus", cluster.url, "--house", "a", "--house", "b")
        assert done.returncode == 0, done.stderr
        assert_like_of_house(whole, out, "a, b")
        assert_shared(out, (cluster.url, "a"), (cluster.url, "b"))


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["a@redis://h1", "a@redis://h1"], "a house is told twice"),
        (["a@redes://h1"], "bus address: 'redes://' is not known"),
        (["two words@redis://h1"], "'two words'"),
        (["a@memory://", "b@redis://h1"], "memory:// ends where its process ends"),
    ],
)
def test_houses_that_cannot_be_are_refused_in_one_line(study, out, words, fault):
    done = run_here(study, "--out", out, *at(*words))
    assert done.returncode == 2
    assert fault in done.stderr.splitlines()[-1]
    assert not out.exists()
