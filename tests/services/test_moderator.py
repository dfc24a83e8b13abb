"""The moderator service on a real Redis, with agents that know nothing but the wire."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from moderator.house.lobby import Lobby
from tests.proxy import Proxy
from tests.services.guests import HOUSE, SMALL, Guest, Moderating, archive, guests, until
from wolfbus.bus import open_bus, streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.redis.bus import RedisBus
from wolfbus.cli.embedded import EmbeddedHouse
from wolfbus.config import GameConfig
from wolfbus.draws import game_seed
from wolfbus.messages.codec import HOUSE_NEWS, encode, unpack, validate
from wolfbus.messages.house import Dropped, GameClosed, GameOpened, Goodbye, HouseClosed, HouseOpened, Refused, Welcome
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets.holders import services

pytestmark = pytest.mark.timeout(30)

FIVE = ("ada", "bruno", "chloe", "dario", "esther")
SEEDS = tuple(game_seed("7", number) for number in (1, 2, 3))


@pytest.fixture
def bus(redis_url: str) -> Iterator[Bus]:
    with contextlib.closing(open_bus(redis_url)) as bus:
        yield bus


@contextlib.contextmanager
def moderating(url: str, **settings: Any) -> Iterator[Moderating]:
    service = Moderating(url, **settings)
    try:
        yield service
    finally:
        service.stopping.ask("the test is over")
        service.code()


def news(bus: Bus) -> list[Any]:
    return [validate(HOUSE_NEWS, unpack(entry.body)) for entry in bus.entries(streams.games(HOUSE))]


@pytest.fixture(scope="module")
def digests() -> list[str]:
    """Digests of the one game that a session of seed 7 has, and then of its first three where it has several, as
    `wolfbus play` finds them.
    """
    found: list[str] = []
    with EmbeddedHouse("memory://") as house:
        for seed in ("7", *SEEDS):
            game = house.open(SMALL, seed, ["scripted"] * 5)
            assert game.finished.wait(10)
            assert game.over is not None
            found.append(game.over.digest)
    return found


# -- a session from beginning to end


def test_agents_that_join_get_seats_and_play_every_game_of_the_session(
    redis_url: str, bus: Bus, digests: list[str]
) -> None:
    with moderating(redis_url, games=3, seed="7") as service, guests(redis_url, *FIVE) as agents:
        results = [service.result() for _ in range(3)]
        assert service.code() == 0
        for agent in agents:
            assert isinstance(agent.hear(Welcome), Welcome)
            assert agent.hear(Goodbye).reason == "all games are over"
    # the same games as in one process, whoever sat where
    assert [result.digest for result in results] == digests[1:]
    assert tuple(result.seed for result in results) == SEEDS
    assert [result.number for result in results] == [1, 2, 3]
    assert all(agent.games == [result.game for result in results] for agent in agents)
    opened, *games, end = news(bus)
    assert isinstance(opened, HouseOpened)
    assert [type(one) for one in games] == [GameOpened, GameClosed] * 3
    assert end == HouseClosed(session=opened.session, games=3, failed=0, reason="all games are over")
    assert bus.owner(HOUSE).left_s == 0


def test_several_games_at_once_share_the_agents_seats(redis_url: str) -> None:
    with moderating(redis_url, games=4, at_once=2) as service, guests(redis_url, "ada", "bruno", seats=5) as agents:
        assert {service.result().number for _ in range(4)} == {1, 2, 3, 4}
        assert service.code() == 0
    assert all(agent.games for agent in agents)


def test_an_agent_sits_where_it_asked_to_and_one_that_comes_second_waits(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    with contextlib.ExitStack() as around:
        service = around.enter_context(moderating(redis_url))
        ada, bruno = around.enter_context(guests(redis_url, "ada", "bruno", places=(2,)))
        for guest in (ada, bruno):
            guest.hear(Welcome)
        (chloe,) = around.enter_context(guests(redis_url, "chloe", seats=4))
        result = service.result()
        assert service.code() == 0
    assert (ada.games, bruno.games, chloe.games) == ([result.game], [], [result.game])
    assert "bruno waits for place 2, which ada asked for too" in caplog.text


def test_the_command_plays_by_a_config_file_and_hands_over_when_it_is_stopped(
    redis_url: str, bus: Bus, tmp_path: Path
) -> None:
    config = tmp_path / "rules.toml"
    rules = plain(SMALL, "villagers", "werewolves", "doctors", "debate_turns", "max_rounds")
    config.write_text(f'{rules}\nvote_reasons = false\nplayers = "scripted"\n')
    words = ["moderator", "--bus", redis_url, "--games", "2", "--pause", "60", "--seed", "7", "--json"]
    with (
        guests(redis_url, *FIVE),
        subprocess.Popen(
            [sys.executable, "-m", *words, "--config", str(config), "--log", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        result = json.loads(process.stdout.readline())
        process.terminate()
        _, log = process.communicate(timeout=10)
    assert (result["number"], result["error"]) == (1, None)
    assert process.returncode == 0
    last = json.loads(log.splitlines()[-1])
    assert (last["event"], last["service"], last["house"]) == ("handed over: SIGTERM", "moderator", "main")
    # the session is still open, for whoever comes next
    assert not any(isinstance(one, HouseClosed) for one in news(bus))
    assert bus.owner(HOUSE).left_s == 0


def plain(config: GameConfig, *fields: str) -> str:
    return "\n".join(f"{field} = {getattr(config, field)}" for field in fields)


# -- waiting


def test_without_enough_agents_the_house_says_who_is_missing_and_closes(
    redis_url: str, bus: Bus, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with guests(redis_url, "ada", "bruno") as agents, moderating(redis_url, wait_s=0.4, archive=True) as service:
        assert service.code() == 1
        assert "not enough agents" in agents[0].hear(Goodbye).reason
    line = "waiting for agents: 2 of 5 seats covered by ada and bruno; 3 seats missing; an analytics service is missing"
    assert caplog.messages.count(line) == 1
    assert any(record.levelname == "ERROR" and "3 seats missing" in record.message for record in caplog.records)
    assert isinstance(news(bus)[-1], HouseClosed)


def test_an_agent_that_is_away_is_not_seated(redis_url: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    nobody = "waiting for agents: 0 of 5 seats covered; 5 seats missing"
    with guests(redis_url, "gone", seats=5), moderating(redis_url, heartbeat_s=0.1, games=0) as first:
        assert first.code() == 0
    # its name stands in the lobby, and its word on its stream; nobody answers the roll call
    with moderating(redis_url, heartbeat_s=0.1, games=1) as service:
        until(lambda: nobody in caplog.messages)
        with guests(redis_url, "silent", seats=4) as (silent,):
            until(lambda: any("4 of 5 seats covered by silent" in message for message in caplog.messages))
            until(lambda: caplog.messages[-1] == nobody)
            with (
                guests(redis_url, "late", seats=4, heartbeat=0.05),
                guests(redis_url, "more", heartbeat=0.05) as (more,),
            ):
                result = service.result()
                assert service.code() == 0
        assert more.games == [result.game]
        assert silent.games == []


def test_a_short_seed_is_no_secret_from_agents_of_others(redis_url: str, caplog: pytest.LogCaptureFixture) -> None:
    with guests(redis_url, *FIVE, in_house=False), moderating(redis_url, seed="7") as service:
        assert service.code() == 0
    assert sum("found by trying all" in message for message in caplog.messages) == 1


# -- recovery


def test_a_restarted_moderator_goes_on_with_the_session(redis_url: str, bus: Bus, digests: list[str]) -> None:
    with guests(redis_url, *FIVE) as agents:
        with moderating(redis_url, games=3, seed="7", pause_s=60) as first:
            assert first.result().digest == digests[1]
            assert first.stop() == 0
        assert bus.owner(HOUSE).left_s == 0
        with moderating(redis_url, games=3, seed="7") as second:
            assert [second.result().digest for _ in range(2)] == digests[2:]
            assert second.code() == 0
        assert len(agents[0].games) == 3
    found = news(bus)
    assert [one.number for one in found if isinstance(one, GameOpened)] == [1, 2, 3]
    assert sum(isinstance(one, HouseOpened) for one in found) == 1


def test_a_game_in_the_middle_goes_on_under_the_next_moderator(redis_url: str, digests: list[str]) -> None:
    gate = threading.Event()
    with guests(redis_url, *FIVE, gate=gate) as agents:
        # asked by the first moderator, they answer the second
        with moderating(redis_url, seed="7") as first:
            until(lambda: any(agent.asked.is_set() for agent in agents))
            assert first.stop() == 0
            assert first.results.empty()
        with moderating(redis_url, seed="7") as second:
            until(lambda: second.health.state == "playing")
            gate.set()
            assert second.result().digest == digests[0]
            assert second.code() == 0


def test_a_second_moderator_takes_over_when_the_lease_runs_out_and_the_first_steps_down(
    redis_url: str, redis_server: RedisServer, bus: Bus, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    with Proxy(redis_server.port) as proxy, contextlib.ExitStack() as around:
        url = f"redis://127.0.0.1:{proxy.port}?patience=0.2"
        first = around.enter_context(moderating(url, games=1, lease_s=0.4))
        until(lambda: first.health.state == "waiting for agents")
        second = around.enter_context(moderating(redis_url, games=1, lease_s=0.4))
        until(lambda: second.health.state == "standing by" and "standing by: " in caplog.text)
        epoch = bus.owner(HOUSE).epoch
        proxy.refuse()
        proxy.cut()
        until(lambda: second.health.state == "waiting for agents")
        assert bus.owner(HOUSE).epoch > epoch
        proxy.refuse(False)
        until(lambda: first.health.state == "standing by")
        assert "stepping down: house main belongs to" in caplog.text
        around.enter_context(guests(redis_url, *FIVE))
        assert second.result().error is None
        assert second.code() == 0
        # the session it stood by for is over: there is nothing to do for it
        assert first.code() == 0
        assert first.results.empty()
    assert sum(isinstance(one, HouseOpened) for one in news(bus)) == 1


def test_a_game_whose_record_is_gone_has_failed(redis_url: str, redis_server: RedisServer, bus: Bus) -> None:
    gate = threading.Event()
    with guests(redis_url, *FIVE, gate=gate) as agents, moderating(redis_url) as service:
        until(lambda: any(agent.asked.is_set() for agent in agents))
        redis_server.command("DEL", streams.record(HOUSE, agents[0].games[0]), streams.heads(HOUSE))
        gate.set()
        failed = service.result()
        assert "cannot be taken up from its record" in str(failed.error)
        for agent in agents:
            assert agent.hear(Dropped) == Dropped(game=failed.game, reason="the game could not go on")
        assert service.code() == 1
    assert news(bus)[-1].failed == 1


def test_an_agent_that_comes_back_as_another_brain_is_asked_nothing_in_a_game_begun(
    redis_url: str, digests: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    gate = threading.Event()
    with guests(redis_url, *FIVE[1:], gate=gate) as others, moderating(redis_url, seed="7") as service:
        # so slow that it goes long before the game could end
        with guests(redis_url, "ada", gate=gate, slow_s=0.1) as (ada,):
            until(lambda: ada.games and any(other.asked.is_set() for other in others))
            gate.set()
        for other in ({"brain": "another"}, {"declines": ("bid",)}, {"in_house": False}):
            with guests(redis_url, "ada", **other) as (stranger,):
                stranger.hear(Welcome)
                stranger.join(instance="and again")
                stranger.hear(Welcome)
                assert stranger.games == []
        assert service.results.empty()
        with guests(redis_url, "ada") as (ada,):
            result = service.result()
            assert service.code() == 0
        assert ada.games == [result.game]
    assert result.digest == digests[0]
    found = [message for message in caplog.messages if "stay silent" in message]
    assert len(found) == 1
    assert "is played by scripted (in house), but ada comes as another (in house)" in found[0]


# -- breaking down


def break_down(monkeypatch: pytest.MonkeyPatch, before: Callable[[], object] = lambda: None) -> None:
    """Have the moderator find an error of its own at its next look around."""

    def fails(*_: object) -> None:
        before()
        raise ZeroDivisionError("Ada is the Werewolf")

    monkeypatch.setattr(Lobby, "urge", fails)


def test_a_moderator_that_breaks_down_closes_the_house_so_that_everybody_leaves(
    redis_url: str, bus: Bus, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gate = threading.Event()
    with guests(redis_url, *FIVE, gate=gate) as agents, moderating(redis_url, games=2) as service:
        until(lambda: any(agent.asked.is_set() for agent in agents))
        game = next(agent.games[0] for agent in agents if agent.games)
        break_down(monkeypatch)
        assert service.code() == 1
        gate.set()
        for agent in agents:
            assert agent.hear(Dropped) == Dropped(game=game, reason="the game was broken off and will not go on")
            assert agent.hear(Goodbye).reason == "the moderator failed by an error of its own"
    *_, closed, end = news(bus)
    assert (closed.game, closed.outcome) == (game, "stopped")
    assert (end.type, end.games, end.failed) == ("house_closed", 1, 1)
    assert bus.owner(HOUSE).left_s == 0
    # what went wrong is for the operator alone
    assert "Ada is the Werewolf" in caplog.text
    assert all(b"Ada is" not in entry.body for entry in bus.entries(streams.games(HOUSE)))


def test_a_moderator_that_breaks_down_leaves_a_house_alone_that_is_anothers(
    redis_url: str, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def taken() -> None:
        owner = bus.owner(HOUSE)
        bus.release(HOUSE, owner.holder, owner.epoch)
        bus.claim(HOUSE, "another", 60.0)

    with moderating(redis_url) as service:
        until(lambda: service.health.state == "waiting for agents")
        break_down(monkeypatch, taken)
        with pytest.raises(ZeroDivisionError):
            service.code()
        service.error = None
    assert [one.type for one in news(bus)] == ["house_opened"]
    assert bus.owner(HOUSE).holder == "another"


def test_a_bus_that_lost_its_data_is_the_end(
    redis_url: str, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    with guests(redis_url, "ada"), moderating(redis_url, lease_s=0.3) as service:
        until(lambda: service.health.state == "waiting for agents")
        redis_server.command("FLUSHALL")
        assert service.code() == 1
    assert "the bus lost its data" in caplog.text


def test_who_stands_by_when_the_bus_loses_its_data_leaves_too_and_opens_no_other_session(
    redis_url: str, redis_server: RedisServer, caplog: pytest.LogCaptureFixture, bus: Bus
) -> None:
    with guests(redis_url, "ada"), moderating(redis_url, lease_s=2.0) as service:
        until(lambda: service.health.state == "waiting for agents")
        with moderating(redis_url, lease_s=2.0) as second, moderating(redis_url) as third:
            until(lambda: {second.health.state, third.health.state} == {"standing by"})
            redis_server.command("FLUSHALL")
            assert [one.code() for one in (service, second, third)] == [1, 1, 1]
    ends = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert ends == [f"the bus lost its data: it knows nothing of house {HOUSE} any more"] * 3
    assert bus.last_id(streams.games(HOUSE)) == "0-0"


@pytest.mark.parametrize("when", ["before", "after"])
def test_data_lost_in_the_moment_of_a_claim_is_lost_too(
    redis_url: str, redis_server: RedisServer, bus: Bus, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with moderating(redis_url) as service:
        until(lambda: service.health.state == "waiting for agents")
    claim = RedisBus.claim

    def claim_late(self: RedisBus, house: str, holder: str, lease_s: float = 0.0) -> int:
        redis_server.command("FLUSHALL")
        if when == "after":
            # another one fell into the same gap, and has left
            self.release(house, "another", claim(self, house, "another", 60.0))
        return claim(self, house, holder, lease_s)

    monkeypatch.setattr(RedisBus, "claim", claim_late)
    with moderating(redis_url) as late:
        assert late.code() == 1
    assert bus.last_id(streams.games(HOUSE)) == "0-0"
    assert bus.owner(HOUSE).left_s == 0


def test_who_comes_to_a_bus_that_knows_nothing_opens_a_session(
    redis_url: str, redis_server: RedisServer, bus: Bus
) -> None:
    bus.claim(HOUSE, "somebody", 60.0)
    redis_server.command("FLUSHALL")
    with moderating(redis_url) as service:
        until(lambda: service.health.state == "waiting for agents")
    assert [one.type for one in news(bus)] == ["house_opened"]


# -- analytics


def test_the_house_closes_only_when_analytics_has_archived_every_game(redis_url: str, bus: Bus) -> None:
    with contextlib.ExitStack() as around:
        clerk = Guest(redis_url, "clerk", service="analytics", seats=0)
        around.callback(clerk.close)
        around.enter_context(guests(redis_url, *FIVE, heartbeat=0.1))
        service = around.enter_context(moderating(redis_url, games=2, archive=True, heartbeat_s=5.0))
        games = [service.result().game for _ in range(2)]
        until(lambda: service.health.state == "closing")
        closed = [one for one in news(bus) if isinstance(one, GameClosed)]
        archive(clerk, closed[0])
        # somebody who does not know the seal has not read the record; and who plays has nothing to say here
        archive(clerk, closed[1], hash="0" * 64)
        until(lambda: bus.head(HOUSE, games[0]) == "")
        assert bus.head(HOUSE, games[1])
        assert service.health.state == "closing"
        archive(clerk, closed[1], error="the disk is full")
        assert service.code() == 1
    assert news(bus)[-1].failed == 1
    assert bus.head(HOUSE, games[1])


def test_a_moderator_that_comes_back_knows_what_was_archived(redis_url: str, bus: Bus) -> None:
    with contextlib.ExitStack() as around:
        clerk = Guest(redis_url, "clerk", service="analytics", seats=0)
        around.callback(clerk.close)
        around.enter_context(guests(redis_url, *FIVE))
        settings: dict[str, Any] = {"archive": True, "heartbeat_s": 5.0}
        with moderating(redis_url, games=2, pause_s=60, **settings) as first:
            game = first.result().game
            archive(clerk, next(one for one in news(bus) if isinstance(one, GameClosed)))
            until(lambda: bus.head(HOUSE, game) == "")
            assert first.stop() == 0
        second = around.enter_context(moderating(redis_url, games=1, **settings))
        assert second.code() == 0


# -- order


def test_mailboxes_streams_and_records_stay_small_over_thirty_games(redis_url: str, bus: Bus) -> None:
    boxes = {name: streams.inbox(HOUSE, name) for name in ("ada", "idle", "clerk")}
    outs = {name: streams.outbox(HOUSE, name) for name in boxes}
    sizes: list[int] = []
    with contextlib.ExitStack() as around:
        ada = Guest(redis_url, "ada", heartbeat=0.02, seats=5)
        idle = Guest(redis_url, "idle", heartbeat=0.02, seats=0)
        clerk = Guest(redis_url, "clerk", heartbeat=0.02, seats=0, service="analytics")
        for guest in (ada, idle, clerk):
            around.callback(guest.close)
        service = around.enter_context(moderating(redis_url, games=30, heartbeat_s=0.05, keep_s=0.0))
        for _ in range(30):
            game = service.result().game
            closed = [one for one in news(bus) if isinstance(one, GameClosed) and one.game == game]
            archive(clerk, closed[0])
            sizes.append(bus.length(boxes["ada"]) + bus.length(outs["ada"]))
        assert service.code() == 0
    # a few games' messages, and the heartbeats of a few rounds; thirty games have several thousand
    assert max(sizes) < 600
    assert all(bus.length(stream) < 300 for stream in (*boxes.values(), *outs.values()))
    assert bus.length(streams.lobby(HOUSE)) < 20
    games = [one.game for one in news(bus) if isinstance(one, GameClosed)]
    assert [bus.length(streams.record(HOUSE, game)) for game in games] == [0] * 30


def test_a_join_in_anothers_name_and_one_without_a_ticket_are_refused(
    redis_url: str, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    redis_server.command("SADD", streams.tickets(HOUSE), *FIVE)
    with (
        guests(redis_url, *FIVE[:4]) as agents,
        guests(redis_url, "mallory", seats=5) as (mallory,),
        moderating(redis_url, tickets=True) as service,
    ):
        agents[0].hear(Welcome)
        mallory.knock(agent="esther")
        mallory.knock()
        assert mallory.hear(Refused).reason == "this house is open to holders of a ticket only"
        agents[0].join(agent="esther", instance="forged")
        assert agents[0].hear(Refused).reason == "this is the stream of ada; esther cannot join on it"
        with guests(redis_url, "esther", knock=False) as (esther,):
            result = service.result()
            assert service.code() == 0
        assert esther.games == [result.game]
        assert mallory.games == []
    assert "knocked under the name of another" in caplog.text
    # the house is closed: nobody's ticket is good any more
    assert redis_server.command("SCARD", streams.tickets(HOUSE)) == b":0\r\n"


def test_an_agents_ticket_makes_nobody_analytics_and_only_a_players_is_in_house(
    redis_url: str, redis_server: RedisServer, bus: Bus
) -> None:
    kinds = {**dict.fromkeys(FIVE, "agent"), "bruno": "player", "eve": "agent", "keeper": "analytics"}
    redis_server.command("HSET", services(HOUSE), *(word for pair in kinds.items() for word in pair))
    redis_server.command("SADD", streams.tickets(HOUSE), *kinds)
    with contextlib.ExitStack() as around:
        eve = Guest(redis_url, "eve", service="analytics", seats=0, knock=False)
        keeper = Guest(redis_url, "keeper", service="analytics", seats=0, knock=False)
        for guest in (eve, keeper):
            around.callback(guest.close)
        around.enter_context(guests(redis_url, *FIVE, knock=False))
        service = around.enter_context(moderating(redis_url, tickets=True, archive=True))
        assert "the ticket of eve is for an agent" in eve.hear(Refused).reason
        game = service.result().game
        closed = next(one for one in news(bus) if isinstance(one, GameClosed))
        until(lambda: service.health.state == "closing")
        archive(eve, closed)
        # the moderator has heard it when it has heard what stands behind it; as an agent eve may come
        for instance in ("again", "and again"):
            eve.join(service="player", instance=instance)
            eve.hear(Welcome)
            archive(eve, closed)
        assert bus.head(HOUSE, game) == closed.hash
        (first, *_) = bus.entries(streams.record(HOUSE, game))
        archive(keeper, closed)
        assert service.code() == 0
    seats = unpack(first.body)["seats"]
    assert {seat["agent"] for seat in seats if seat.get("in_house")} == {"bruno"}


def test_a_stranger_who_fills_the_door_with_nonsense_stops_nothing(redis_url: str, bus: Bus) -> None:
    for sender in ("../../etc", "x" * 500, "", "ada"):
        bus.post(streams.lobby(HOUSE), Entry(b"\xc1nonsense", "join", sender))
    with guests(redis_url, *FIVE) as agents, moderating(redis_url) as service:
        bus.post(streams.lobby(HOUSE), Entry(encode(agents[0].message()), "join", "bruno"))
        bus.append(streams.outbox(HOUSE, "zz"), [Entry(b"\x00", "join", "zz", id="1-1")])
        assert service.result().error is None
        assert service.code() == 0
