"""Redis comes back without its last moments, as it may after a crash (``appendfsync everysec``): the games go on."""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections import Counter

import pytest

from tests.moderator.process import events_of
from tests.services import fed
from tests.services.guests import HOUSE, SMALL, Guest, Moderating
from tests.waiting import wait_until
from tests.whole.house import play_many
from wolfbus.agent import Agent, serve
from wolfbus.bus import open_bus, streams
from wolfbus.errors import BusDown, BusError, BusUnsaved
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import game_seed
from wolfbus.messages.codec import unpack
from wolfbus.service.lifecycle import Stopping
from wolfbus.testing.redis_server import RedisServer

TALK = GameConfig(villagers=3, werewolves=1, seers=1, doctors=0, debate_turns=6)
"""Long enough to be in the middle of."""


@pytest.fixture
def server():
    with RedisServer(persist=True) as server:
        yield server


@pytest.fixture
def bus(server):
    with contextlib.closing(open_bus(server.url)) as bus:
        yield bus


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Digests of the games of seed 7 that nothing disturbs."""
    seeds = [game_seed("7", number) for number in (1, 2)]
    return [proof.digest for proof in play_many(tmp_path_factory.mktemp("alone"), seeds, ["scripted"] * 5, TALK)]


def recorded(bus):
    """Events in all records."""
    games = [entry.game for entry in bus.entries(streams.games(HOUSE)) if entry.type == "game_opened"]
    return sum(bus.length(streams.record(HOUSE, game)) for game in games)


@pytest.mark.parametrize(("lines", "lost"), [(20, 25), (60, 3)])
def test_games_go_on_from_what_a_redis_that_forgot_its_last_moments_still_knows(
    server, bus, digests, lines, lost, caplog
):
    with contextlib.ExitStack() as stack:
        agents = [Guest(server.url, name, seats=5, slow_s=0.004) for name in ("ada", "bruno", "chloe")]
        for agent in agents:
            stack.callback(agent.close)
        # no agent says anew that it is here: what stands before that on its stream need not be kept
        service = Moderating(server.url, games=2, at_once=2, seed="7", config=TALK, heartbeat_s=20.0)
        stack.callback(service.stop)
        wait_until(lambda: recorded(bus) >= lines)
        mark, at_mark = server.mark(), recorded(bus)
        wait_until(lambda: recorded(bus) >= at_mark + lost)
        server.forget_since(mark)
        results = sorted((service.result(60) for _ in range(2)), key=lambda result: result.number)
        assert service.code(30) == 0
        assert [(result.error, result.digest) for result in results] == [(None, digest) for digest in digests]
        for result in results:
            for event in events_of(bus, result.game):
                assert event.type != "rejected"
                assert event.type != "answered" or event.outcome == "accepted"
    assert "beginning anew: the bus has gone backwards" in caplog.text
    # each request has one reply on the bus, so none that survived was asked for again
    sent = [entry for agent in agents for entry in bus.entries(agent.out, limit=100_000) if entry.type == "reply"]
    assert set(Counter(unpack(entry.body)["request"] for entry in sent).values()) == {1}


def test_a_bus_that_forgets_again_and_again_is_given_up(server, bus, caplog):
    service = Moderating(server.url, games=1, config=SMALL, lease_s=0.3)
    wait_until(lambda: service.health.state == "waiting for agents")
    mark = server.mark()
    for _ in range(4):
        owner = bus.owner(HOUSE)
        with contextlib.closing(Guest(server.url, "ada", seats=1)) as guest:
            wait_until(lambda: not guest.inbox.empty())
        server.forget_since(mark)
        wait_until(lambda: bus.owner(HOUSE).epoch > owner.epoch or service.ended)  # noqa: B023
    assert service.code() == 1
    assert "again and again (4 times within 60 s)" in caplog.text


def test_an_outage_while_standing_by_is_outlived_and_a_request_to_stop_ends_it(server, bus):
    url = server.url + "?patience=0.2"
    bus.claim(HOUSE, "another", 60.0)
    service = Moderating(url, games=1)
    wait_until(lambda: service.health.state == "standing by")
    for again in (True, False):
        server.kill()
        wait_until(lambda: service.health.state == "the bus is away")
        if again:
            server.start()
            wait_until(lambda: service.health.state == "standing by")
    assert service.stop() == 0
    with pytest.raises(BusDown):
        open_bus(url)
    server.start()


def test_a_moderator_on_a_redis_that_cannot_save_says_so_and_ends_with_its_patience():
    with RedisServer() as server:
        server.stop_saving()
        with pytest.raises(BusUnsaved, match=r"takes no writes \(tried for 0\.2 s\): MISCONF"):
            Moderating(server.url + "?patience=0.2", games=1).code()


def test_an_agent_that_nobody_answers_says_that_the_bus_is_back(server, tmp_path, monkeypatch):
    monkeypatch.setattr("wolfbus.agent.member.HEARTBEAT_S", 0.1)
    with fed.Service(server.url + "?patience=0.2", tmp_path) as service:
        wait_until(lambda: service.health.ok)
        state = service.health.state
        server.kill()
        wait_until(lambda: service.health.state == "the bus is away")
        server.start()
        wait_until(lambda: service.health.state == state)


def test_an_agent_leaves_a_house_of_which_the_bus_has_lost_everything(server, caplog):
    caplog.set_level(logging.INFO)
    service = Moderating(server.url, games=1)
    ends = queue.SimpleQueue()

    def play():
        with pytest.raises(BusError) as caught:
            serve(Agent, server.url, HOUSE, name="ada", stopping=Stopping())
        ends.put(str(caught.value))

    thread = threading.Thread(target=play)
    thread.start()
    # who has not heard of the house yet has nothing to lose, and waits for a moderator
    wait_until(lambda: f"ada is welcome in house {HOUSE}" in caplog.text)
    wait_until(lambda: service.health.state == "waiting for agents")
    server.command("FLUSHALL")
    lost = f"the bus lost its data: it knows nothing of house {HOUSE} any more"
    assert service.code() == 1
    assert ends.get(timeout=60) == lost
    thread.join()
