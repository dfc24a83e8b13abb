"""Redis comes back without its last moments, as it may after a crash (``appendfsync everysec``): the games go on."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

import pytest

from moderator.engine.reexecution import Verifier, read_back
from tests.services.guests import HOUSE, SMALL, Guest, Moderating, until
from wolfbus.bus import open_bus, streams
from wolfbus.bus.protocol import Bus
from wolfbus.cli.embedded import EmbeddedHouse
from wolfbus.config import GameConfig
from wolfbus.draws import game_seed
from wolfbus.errors import BusDown
from wolfbus.messages.codec import unpack
from wolfbus.record.line import Recorded
from wolfbus.testing.redis_server import RedisServer

pytestmark = pytest.mark.timeout(60)

TALK = GameConfig(villagers=3, werewolves=1, seers=1, doctors=0, debate_turns=6)
"""Long enough to be in the middle of."""


@pytest.fixture
def server() -> Iterator[RedisServer]:
    with RedisServer(persist=True) as server:
        yield server


@pytest.fixture
def bus(server: RedisServer) -> Iterator[Bus]:
    with contextlib.closing(open_bus(server.url)) as bus:
        yield bus


@pytest.fixture(scope="module")
def digests() -> list[str]:
    """Digests of the games of seed 7 that nothing disturbs."""
    found: list[str] = []
    with EmbeddedHouse("memory://") as house:
        for number in (1, 2):
            game = house.open(TALK, game_seed("7", number), ["scripted"] * 5)
            assert game.finished.wait(10)
            assert game.over is not None
            found.append(game.over.digest)
    return found


def recorded(bus: Bus) -> int:
    """Events in all records."""
    games = [f"{entry.game}" for entry in bus.entries(streams.games(HOUSE)) if entry.type == "game_opened"]
    return sum(bus.length(streams.record(HOUSE, game)) for game in games)


def proved(bus: Bus, game: str) -> list[Recorded]:
    """The record of a game that ended, executed again."""
    verifier = Verifier()
    found = list(read_back(bus, HOUSE, game))
    for one in found:
        verifier.feed(one)
    assert verifier.ended is not None
    return found


@pytest.mark.parametrize(("kept", "lost"), [(20, 25), (60, 3), (90, 60)])
def test_games_go_on_from_what_a_redis_that_forgot_its_last_moments_still_knows(
    server: RedisServer, bus: Bus, digests: list[str], kept: int, lost: int, caplog: pytest.LogCaptureFixture
) -> None:
    with contextlib.ExitStack() as around:
        agents = [Guest(server.url, name, seats=5, slow_s=0.004) for name in ("ada", "bruno", "chloe")]
        for agent in agents:
            around.callback(agent.close)
        service = Moderating(server.url, games=2, at_once=2, seed="7", config=TALK)
        around.callback(service.stop)
        until(lambda: recorded(bus) >= kept)
        mark = server.mark()
        at_mark = recorded(bus)
        until(lambda: recorded(bus) >= at_mark + lost)
        server.forget_since(mark)
        results = sorted((service.result(30) for _ in range(2)), key=lambda result: result.number)
        assert service.code(30) == 0
        assert [(result.error, result.digest) for result in results] == [(None, digest) for digest in digests]
        for result in results:
            events = [one.event for one in proved(bus, result.game)]
            assert not any(event.type == "rejected" for event in events)
            assert {event.outcome for event in events if event.type == "answered"} == {"accepted"}
    assert "beginning anew: the bus has gone backwards" in caplog.text
    # each request has one reply on the bus, so none that survived was asked for again
    replies: Counter[str] = Counter()
    for agent in agents:
        for entry in bus.entries(agent.out, limit=100_000):
            if entry.type == "reply":
                replies[unpack(entry.body)["request"]] += 1
    assert set(replies.values()) == {1}


def test_a_bus_that_forgets_again_and_again_is_given_up(
    server: RedisServer, bus: Bus, caplog: pytest.LogCaptureFixture
) -> None:
    service = Moderating(server.url, games=1, config=SMALL, lease_s=0.3)
    until(lambda: service.health.state == "waiting for agents")
    mark = server.mark()
    for _ in range(4):
        owner = bus.owner(HOUSE)
        with contextlib.closing(Guest(server.url, "ada", seats=1)) as guest:
            until(lambda: not guest.inbox.empty())
        server.forget_since(mark)
        until(lambda: bus.owner(HOUSE).epoch > owner.epoch or service.ended)  # noqa: B023
    assert service.code() == 1
    assert "again and again (4 times within 60 s)" in caplog.text


def test_an_outage_while_standing_by_is_outlived_and_a_request_to_stop_ends_it(server: RedisServer, bus: Bus) -> None:
    url = server.url + "?patience=0.2"
    bus.claim(HOUSE, "another", 60.0)
    service = Moderating(url, games=1)
    until(lambda: service.health.state == "standing by")
    server.kill()
    until(lambda: service.health.state == "the bus is away")
    server.start()
    until(lambda: service.health.state == "standing by")
    server.kill()
    until(lambda: service.health.state == "the bus is away")
    assert service.stop() == 0
    with pytest.raises(BusDown):
        open_bus(url)
    server.start()
