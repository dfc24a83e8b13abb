"""The moderator service on a real Redis, with agents that know nothing but the wire."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading

import pytest

from tests.proxy import Proxy
from tests.services.guests import HOUSE, SMALL, Guest, Moderating, archive
from tests.waiting import wait_until
from tests.whole.house import play_many
from wolfbus.bus import streams
from wolfbus.cli import run
from wolfbus.game.draws import game_seed
from wolfbus.messages.house import Dropped, GameClosed, GameOpened, Goodbye, HouseClosed, HouseOpened, Welcome
from wolfbus.testing.redis_server import RedisServer

FIVE = ("ada", "bruno", "chloe", "dario", "esther")
SEEDS = tuple(game_seed("7", number) for number in (1, 2, 3))
WAITING = "waiting for agents"


@pytest.fixture
def flush(redis_server):
    return lambda: redis_server.command("FLUSHALL")


@pytest.fixture(scope="module")
def digests(tmp_path_factory):
    """Digests of the one game that a session of seed 7 has, and then of its first three where it has several, as
    `wolfbus play` finds them.
    """
    return [
        proof.digest for proof in play_many(tmp_path_factory.mktemp("alone"), ("7", *SEEDS), ["scripted"] * 5, SMALL)
    ]


# -- a session from beginning to end


def test_agents_that_join_get_seats_and_play_every_game_of_the_session(stage, digests):
    service, agents = stage.moderate(games=3, seed="7"), stage.guests(*FIVE)
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
    opened, *games, end = stage.news
    assert isinstance(opened, HouseOpened)
    assert [type(one) for one in games] == [GameOpened, GameClosed] * 3
    assert end == HouseClosed(session=opened.session, games=3, failed=0, reason="all games are over")
    assert stage.bus.owner(HOUSE).left_s == 0


def test_an_agent_sits_where_it_asked_to_and_one_that_comes_second_waits(stage, caplog):
    service = stage.moderate()
    ada, bruno = stage.guests("ada", "bruno", places=(2,))
    for guest in (ada, bruno):
        guest.hear(Welcome)
    (chloe,) = stage.guests("chloe", seats=4)
    result = service.result()
    assert service.code() == 0
    assert (ada.games, bruno.games, chloe.games) == ([result.game], [], [result.game])
    assert "bruno waits for place 2, which ada asked for too" in caplog.text


def test_the_command_plays_by_a_config_file_and_hands_over_when_it_is_stopped(stage, tmp_path):
    rules = ("villagers", "werewolves", "doctors", "debate_turns", "max_rounds")
    settings = [f"{field} = {getattr(SMALL, field)}\n" for field in rules]
    config = tmp_path / "rules.toml"
    config.write_text("".join([*settings, 'vote_reasons = false\nplayers = "scripted"\n']))
    words = ["moderator", "--bus", stage.url, "--games", "2", "--pause", "60", "--seed", "7", "--json", "--log", "json"]
    stage.guests(*FIVE)
    with subprocess.Popen(
        [sys.executable, "-m", *words, "--config", config], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        result = json.loads(process.stdout.readline())
        process.terminate()
        _, log = process.communicate(timeout=60)
    assert (result["number"], result["error"]) == (1, None)
    assert process.returncode == 0
    last = json.loads(log.splitlines()[-1])
    assert (last["event"], last["service"], last["house"]) == ("handed over: SIGTERM", "moderator", "main")
    # the session is still open, for whoever comes next
    assert not any(isinstance(one, HouseClosed) for one in stage.news)
    assert stage.bus.owner(HOUSE).left_s == 0


def test_games_go_on_when_nobody_takes_their_results_any_more(stage):
    words = ["moderator", "--bus", stage.url, "--games", "2", "--json", "--log", "text"]
    with subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        stage.guest("ada", seats=8)
        log = process.stderr.read()
    assert process.returncode == 1
    assert log.count("no more results are told: the output: broken pipe") == 1
    assert (stage.news[-1].games, stage.news[-1].failed) == (2, 0)


@pytest.mark.parametrize("wrong", ["agents = 3\n", "[agent]\n", "[anything]\n"])
def test_a_config_file_may_hold_a_table_of_agents_and_nothing_that_nobody_knows(tmp_path, capsys, wrong):
    rules = tmp_path / "rules.toml"
    rules.write_text("[agents.bruno]\nplaces = [1]\n")
    assert run(["rules", "--config", str(rules)]) == 0
    rules.write_text(wrong)
    assert run(["rules", "--config", str(rules)]) == 2
    assert str(rules) in capsys.readouterr().err


@pytest.mark.parametrize("wrong", ["nan", "inf", "1e10", "-1"])
@pytest.mark.parametrize("option", ["--wait", "--keep", "--lease", "--heartbeat", "--pause"])
def test_a_time_that_no_clock_can_take_is_refused_before_anything_is_begun(capsys, option, wrong):
    assert run(["moderator", option, wrong, "--bus", "redis://127.0.0.1:1?patience=0.01"]) == 2
    assert option in capsys.readouterr().err


# -- waiting


def test_without_enough_agents_the_house_says_who_is_missing_and_closes(stage, caplog):
    caplog.set_level("INFO")
    agents = stage.guests("ada", "bruno")
    assert stage.moderate(wait_s=0.4, archive=True).code() == 1
    assert "not enough agents" in agents[0].hear(Goodbye).reason
    line = "waiting for agents: 2 of 5 seats covered by ada and bruno; 3 seats missing; an analytics service is missing"
    assert caplog.messages.count(line) == 1
    assert any(record.levelname == "ERROR" and "3 seats missing" in record.message for record in caplog.records)
    assert isinstance(stage.news[-1], HouseClosed)


NO_MODEL = "any does not answer: connection refused"


def test_agents_of_the_house_that_leave_because_they_cannot_play_end_the_wait_with_their_reason(stage, caplog):
    ada, bruno, chloe = stage.guests("ada", "bruno", "chloe", seats=0)
    service = stage.moderate(failed_wait_s=0.2)
    for guest in (ada, bruno):
        guest.hear(Welcome)
        guest.leave(NO_MODEL, failed=True)
    assert service.code() == 1
    reason = f"too few agents are here: ada and bruno cannot play: {NO_MODEL}; 0 of 5 seats covered; 5 seats missing"
    assert chloe.hear(Goodbye).reason == reason
    assert (stage.news[-1].reason, stage.news[-1].games) == (reason, 0)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [reason]


@pytest.mark.parametrize(
    ("fields", "leaving", "settings"),
    [
        pytest.param({"in_house": False, "brain": "outside:ada"}, {"failed": True}, {}, id="an outside agent's word"),
        pytest.param({}, {}, {}, id="a player that was stopped"),
        pytest.param({}, {"failed": True}, {"games": None}, id="games without end"),
    ],
)
def test_nobody_else_who_leaves_ends_the_wait(stage, caplog, fields, leaving, settings):
    caplog.set_level("INFO")
    service = stage.moderate(failed_wait_s=0.0, **settings)
    (ada,) = stage.guests("ada", **fields)
    ada.hear(Welcome)
    ada.leave(NO_MODEL, **leaving)
    wait_until(lambda: "0 of 5 seats covered" in caplog.messages[-1])
    stage.guests(*FIVE[1:])
    wait_until(lambda: any("4 of 5 seats covered" in message for message in caplog.messages))
    assert not service.ended


def test_an_agent_that_could_not_play_is_forgotten_once_it_comes_again_or_a_game_begins_without_it(stage, caplog):
    caplog.set_level("INFO")
    service, gate = stage.moderate(games=2), threading.Event()
    ada, bruno = stage.guests("ada", "bruno", gate=gate)
    for guest in (ada, bruno):
        guest.hear(Welcome)
        guest.leave(NO_MODEL, failed=True)
    wait_until(lambda: any("ada and bruno cannot play" in message for message in caplog.messages))
    ada.instance += "-again"
    ada.join()
    wait_until(lambda: caplog.messages[-1].startswith(f"waiting for agents: bruno cannot play: {NO_MODEL}; 1 of 5"))
    others = stage.guests(*FIVE[2:], "felix", gate=gate)
    wait_until(lambda: any(guest.was_asked.is_set() for guest in (ada, *others)))
    others[0].leave("told to stop")
    gate.set()
    service.result()
    wait_until(lambda: caplog.messages[-1].startswith("waiting for agents: 4 of 5 seats covered"))


def test_an_agent_that_is_away_is_not_seated(stage, caplog):
    caplog.set_level("INFO")
    nobody = "waiting for agents: 0 of 5 seats covered; 5 seats missing"
    with stage.guests_for_now("gone", seats=5):
        assert stage.moderate(heartbeat_s=0.1, games=0).code() == 0
    # its name stands in the lobby, and its word on its stream; nobody answers the roll call
    service = stage.moderate(heartbeat_s=0.1, games=1)
    wait_until(lambda: nobody in caplog.messages)
    (silent,) = stage.guests("silent", seats=4, heartbeat=60.0)
    wait_until(lambda: any("4 of 5 seats covered by silent" in message for message in caplog.messages))
    wait_until(lambda: caplog.messages[-1] == nobody)
    stage.guests("late", seats=4, heartbeat=0.05)
    (more,) = stage.guests("more", heartbeat=0.05)
    result = service.result()
    assert service.code() == 0
    assert more.games == [result.game]
    assert silent.games == []


# -- recovery


def test_a_restarted_moderator_goes_on_with_the_session_and_a_game_in_the_middle(stage, digests, caplog):
    caplog.set_level("INFO")
    # asked by the first moderator, they answer the second
    gate, agents, first = stage.begin_game(*FIVE, games=3, seed="7")
    assert first.stop() == 0
    assert first.results.empty()
    assert stage.bus.owner(HOUSE).left_s == 0
    second = stage.moderate("playing", games=3, seed="7")
    gate.set()
    assert [second.result().digest for _ in range(3)] == digests[1:]
    assert second.code() == 0
    assert len(agents[0].games) == 3
    assert [one.number for one in stage.news if isinstance(one, GameOpened)] == [1, 2, 3]
    assert sum(isinstance(one, HouseOpened) for one in stage.news) == 1
    assert "goes on, 1 game begun" in caplog.text


@pytest.mark.parametrize(
    ("late", "renews"), [(False, True), (True, True), (True, False)], ids=["in-time", "after-the-end", "by-the-news"]
)
def test_a_second_moderator_takes_over_when_the_lease_runs_out_and_the_first_steps_down(
    stage, redis_server, caplog, monkeypatch, late, renews
):
    caplog.set_level("INFO")
    proxy = stage.enter_context(Proxy(redis_server.port))
    url = f"redis://127.0.0.1:{proxy.port}?patience=0.2"
    first = stage.moderate(WAITING, url, games=1, lease_s=0.4)
    second = stage.moderate("standing by", games=1, lease_s=0.4)
    wait_until(lambda: "standing by: " in caplog.text)
    epoch = stage.bus.owner(HOUSE).epoch
    proxy.refuse()
    proxy.cut()
    wait_until(lambda: second.health.state == WAITING)
    assert stage.bus.owner(HOUSE).epoch > epoch
    if not late:
        proxy.refuse(False)
        wait_until(lambda: first.health.state == "standing by")
    if not renews:
        # the first learns it from the news that the session is closed, not from its lease
        monkeypatch.setattr("moderator.house.lease.RENEWALS", 1e-3)
    states, tell = [], first.health.set
    monkeypatch.setattr(first.health, "set", lambda state, **more: (states.append(state), tell(state, **more)))
    stage.guests(*FIVE)
    assert second.result().error is None
    assert second.code() == 0
    proxy.refuse(False)
    # the session it had, and stood by for, is over: there is nothing to do for it
    assert first.code() == 0
    assert "stepping down: house main belongs to" in caplog.text
    assert "closing" not in states
    assert first.results.empty()
    assert sum(isinstance(one, HouseOpened) for one in stage.news) == 1


def test_a_game_whose_record_is_gone_has_failed(stage, redis_server):
    gate, agents, service = stage.begin_game(*FIVE)
    game = next(agent.games[0] for agent in agents if agent.games)
    redis_server.command("DEL", streams.record(HOUSE, game), streams.heads(HOUSE))
    gate.set()
    failed = service.result()
    assert "cannot be taken up from its record" in str(failed.error)
    for agent in agents:
        assert agent.hear(Dropped) == Dropped(game=failed.game, reason="the game could not go on")
    assert service.code() == 1
    assert stage.news[-1].failed == 1


def test_an_agent_that_comes_back_as_another_brain_is_asked_nothing_in_a_game_begun(stage, digests, caplog):
    gate = threading.Event()
    others, service = stage.guests(*FIVE[1:], gate=gate), stage.moderate(seed="7")
    # so slow that it goes long before the game could end
    with stage.guests_for_now("ada", gate=gate, slow_s=0.1) as [ada]:
        wait_until(lambda: ada.games and any(other.was_asked.is_set() for other in others))
        gate.set()
    for other in ({"brain": "another"}, {"declines": ("bid",)}, {"in_house": False}):
        with stage.guests_for_now("ada", **other) as [stranger]:
            stranger.hear(Welcome)
            stranger.join(instance="and again")
            stranger.hear(Welcome)
            assert stranger.games == []
    assert service.results.empty()
    (ada,) = stage.guests("ada")
    result = service.result()
    assert service.code() == 0
    assert ada.games == [result.game]
    assert result.digest == digests[0]
    (warning,) = (message for message in caplog.messages if "stay silent" in message)
    assert "is played by scripted (in house), but ada comes as another (in house)" in warning


# -- breaking down


def break_down(service, before=lambda: None):
    """Have the moderator find an error of its own at its next look around."""

    def fails(*_, **__):
        before()
        raise ZeroDivisionError("Ada is the Werewolf")

    service.health.set = fails


def test_a_moderator_that_breaks_down_closes_the_house_so_that_everybody_leaves(stage, caplog):
    gate, agents, service = stage.begin_game(*FIVE, games=2)
    game = next(agent.games[0] for agent in agents if agent.games)
    break_down(service)
    assert service.code() == 1
    gate.set()
    for agent in agents:
        assert agent.hear(Dropped) == Dropped(game=game, reason="the game was broken off and will not go on")
        assert agent.hear(Goodbye).reason == "the moderator failed by an error of its own"
    *_, closed, end = stage.news
    assert (closed.game, closed.outcome) == (game, "stopped")
    assert (end.type, end.games, end.failed) == ("house_closed", 1, 1)
    assert stage.bus.owner(HOUSE).left_s == 0
    # what went wrong is for the operator alone
    assert "Ada is the Werewolf" in caplog.text
    assert all(b"Ada is" not in entry.body for entry in stage.bus.entries(streams.games(HOUSE)))


def test_a_moderator_that_breaks_down_leaves_a_house_alone_that_is_anothers(stage):
    def take_house():
        owner = stage.bus.owner(HOUSE)
        stage.bus.release(HOUSE, owner.holder, owner.epoch)
        stage.bus.claim(HOUSE, "another", 60.0)

    service = stage.moderate(WAITING)
    break_down(service, take_house)
    with pytest.raises(ZeroDivisionError):
        service.code()
    service.error = None
    assert [one.type for one in stage.news] == ["house_opened"]
    assert stage.bus.owner(HOUSE).holder == "another"


def test_a_bus_that_lost_its_data_is_the_end_for_who_stands_by_too_and_no_other_session_opens(stage, flush, caplog):
    stage.guests("ada")
    service = stage.moderate(WAITING, lease_s=2.0)
    others = [stage.moderate("standing by", lease_s=2.0), stage.moderate("standing by")]
    flush()
    assert [one.code() for one in (service, *others)] == [1, 1, 1]
    ends = [record.message for record in caplog.records if record.levelname == "ERROR"]
    assert ends == [f"the bus lost its data: it knows nothing of house {HOUSE} any more"] * 3
    assert stage.bus.last_id(streams.games(HOUSE)) == "0-0"


@pytest.mark.parametrize("when", ["before", "after"])
def test_data_lost_in_the_moment_of_a_claim_is_lost_too(stage, flush, when, monkeypatch):
    stage.moderate(WAITING).stop()
    claim = type(stage.bus).claim

    def claim_late(self, house, holder, lease_s=0.0):
        flush()
        if when == "after":
            # another one fell into the same gap, and has left
            self.release(house, "another", claim(self, house, "another", 60.0))
        return claim(self, house, holder, lease_s)

    monkeypatch.setattr(type(stage.bus), "claim", claim_late)
    assert stage.moderate().code() == 1
    assert stage.bus.last_id(streams.games(HOUSE)) == "0-0"
    assert stage.bus.owner(HOUSE).left_s == 0


def test_who_comes_to_a_bus_that_knows_nothing_opens_a_session(stage, flush):
    stage.bus.claim(HOUSE, "somebody", 60.0)
    flush()
    stage.moderate(WAITING)
    assert [one.type for one in stage.news] == ["house_opened"]


# -- analytics


def test_the_house_closes_only_when_analytics_has_archived_every_game(stage, redis_server, caplog):
    clerk = stage.clerk()
    stage.guests(*FIVE, heartbeat=0.1)
    service = stage.moderate(games=2, archive=True, heartbeat_s=5.0)
    games = [service.result().game for _ in range(2)]
    wait_until(lambda: service.health.state == "closing")
    first, second = stage.closed
    archive(clerk, first)
    # somebody who does not know lines and seal has not read the record, and why it could not be kept counts for the end
    # that it is about
    for wrong in ({"hash": "0" * 64}, {"lines": 1}, {"error": "it has 1 of 3 lines", "closed": "c" * 64}):
        archive(clerk, second, **wrong)
    # nor is a record let go of whose game is under way again, on a bus that has lost its end unnoticed
    redis_server.command("HSET", streams.heads(HOUSE), games[1], "a" * 64)
    archive(clerk, second)
    wait_until(lambda: "the bus has lost the end of a record that is archived" in caplog.messages)
    assert stage.bus.head(HOUSE, games[0]) == ""
    assert stage.bus.head(HOUSE, games[1])
    assert service.health.state == "closing"
    archive(clerk, second, error="the disk is full")
    assert service.code() == 1
    assert stage.news[-1].failed == 1
    assert stage.bus.head(HOUSE, games[1])


def test_a_moderator_that_comes_back_knows_what_was_archived(stage):
    clerk = stage.clerk()
    stage.guests(*FIVE)
    first = stage.moderate(games=2, pause_s=60, archive=True, heartbeat_s=5.0)
    game = first.result().game
    archive(clerk, stage.closed[0])
    wait_until(lambda: stage.bus.head(HOUSE, game) == "")
    assert first.stop() == 0
    assert stage.moderate(games=1, archive=True, heartbeat_s=5.0).code() == 0


# -- order


def test_mailboxes_streams_and_records_stay_small_and_little_is_left_of_a_house_that_closed(stage):
    bus, sizes = stage.bus, []
    # the one says all the time that it is here, the other only once
    ada, idle = stage.guest("ada", heartbeat=0.02, seats=5), stage.guest("idle", heartbeat=60.0, seats=0)
    clerk = stage.clerk(heartbeat=0.02)
    boxes = [streams.inbox(HOUSE, guest.name) for guest in (ada, idle, clerk)]
    service = stage.moderate(games=15, heartbeat_s=0.05, keep_s=0.0)
    for _ in range(15):
        game = service.result().game
        archive(clerk, next(one for one in stage.closed if one.game == game))
        sizes.append(bus.length(boxes[0]) + bus.length(ada.out))
    assert service.code() == 0
    # a few games' messages, and the heartbeats of a few rounds; fifteen games have several thousand
    assert max(sizes) < 600
    assert all(bus.length(stream) < 100 for stream in (*boxes, ada.out, clerk.out))
    assert max(bus.length(boxes[1]), bus.length(idle.out)) <= 4
    assert bus.length(streams.lobby(HOUSE)) < 20
    assert [bus.length(streams.record(HOUSE, one.game)) for one in stage.closed] == [0] * 15


def test_while_an_agent_of_a_game_is_away_the_moderator_says_so(stage, caplog):
    guest = Guest(stage.url, "ada", seats=5, heartbeat=0.05, silent=lambda _: True)
    service = stage.moderate(heartbeat_s=0.1)
    guest.was_asked.wait(60)
    assert "not here" not in caplog.text
    guest.close()
    line = "not here, with seats of games under way: ada (5 seats); their requests time out until somebody is started"
    wait_until(lambda: line in caplog.text)
    # whoever has the name takes the seats
    with contextlib.closing(Guest(stage.url, "ada", seats=5, heartbeat=0.05)):
        assert service.result().error is None


def test_a_redis_that_evicts_is_warned_of_once(caplog):
    with RedisServer("--maxmemory-policy", "allkeys-lru") as server:
        assert Moderating(server.url, games=0).code() == 0
    assert caplog.text.count("(maxmemory-policy allkeys-lru), which breaks games") == 1
