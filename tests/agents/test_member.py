"""An agent's place in a house: joining, heartbeats, roll calls, and the ways in which it ends."""

import logging
from typing import Any

import pytest

from tests.agents.parts import HOUSE, Awaited, Bidder, Moderator, Serve, ask, catch_up, served
from wolfbus.bus import streams
from wolfbus.errors import ConfigError, NotAllowed
from wolfbus.messages.codec import plain, unpack
from wolfbus.messages.house import Goodbye, Refused, RollCall, Welcome
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets import Holder


def test_an_agent_says_join_on_its_own_stream_and_knocks_at_the_lobby(moderator: Moderator, serve: Serve) -> None:
    serve(Bidder, seats=3, places=(2, 5))
    join = moderator.hear("ann", "join")
    assert (join["agent"], join["seats"], join["places"], join["brain"]) == ("ann", 3, (2, 5), "outside:Bidder")
    knocks = moderator.knocks()
    assert [(knock.type, knock.sender) for knock in knocks] == [("join", "ann")]
    assert unpack(knocks[0].body)["instance"] == join["instance"]


def test_it_says_join_again_as_often_as_the_moderator_wants_and_tells_what_it_has_seen(moderator, serve):
    serve(Bidder)
    first = moderator.hear("ann", "join")
    welcome = Welcome(house=HOUSE, agent="ann", instance=str(first["instance"]), again_s=0.02)
    # one that is for an earlier start says nothing, and members that nobody knows are passed over
    moderator.tell("ann", welcome.model_copy(update={"instance": "an earlier start", "again_s": 600.0}))
    moderator.tell("ann", {**plain(welcome), "motto": {"in": "Latin"}})
    while (again := moderator.hear("ann", "join")).get("seen") is None:
        pass
    assert again["instance"] == first["instance"]
    assert again["seen"] == moderator.bus.last_id(streams.inbox(HOUSE, "ann"))


def test_it_answers_a_roll_call_at_once_and_passes_over_types_of_message_that_nobody_knows(moderator, serve, caplog):
    caplog.set_level(logging.DEBUG, "wolfbus")
    serve(Bidder)
    join = moderator.welcome("ann")
    moderator.tell("ann", {"v": 1, "type": "weather", "wind": 3})
    moderator.tell("ann", {"v": 2, "type": "weather"})
    moderator.tell("ann", RollCall())
    assert moderator.hear("ann", "join")["instance"] == join["instance"]
    records = [record for record in caplog.records if "passed over" in record.getMessage()]
    assert [record.levelno for record in records] == [logging.DEBUG] * 2
    assert "'weather' is not known here" in records[0].getMessage()


def test_a_goodbye_ends_the_stay_but_not_one_that_is_older_than_it(moderator: Moderator, serve: Serve) -> None:
    moderator.goodbye("ann")
    ann = serve(Bidder)
    moderator.welcome("ann")
    moderator.tell("ann", Goodbye(reason="it is late"))
    assert ann.end() == "it is late"


def test_who_is_not_taken_hears_why(moderator: Moderator, serve: Serve) -> None:
    ann = serve(Bidder)
    join = moderator.hear("ann", "join")
    moderator.tell("ann", Refused(instance="another", reason="not you"))
    moderator.tell("ann", Refused(instance=str(join["instance"]), reason="the house is full"))
    with pytest.raises(ConfigError, match="does not take ann: the house is full"):
        ann.end()


def test_of_two_processes_under_one_name_the_older_one_leaves(moderator: Moderator, serve: Serve) -> None:
    older = serve(Bidder)
    first = moderator.hear("ann", "join")
    serve(Bidder)
    moderator.hear_again("ann", first["instance"])
    # to this both have an answer
    moderator.tell("ann", RollCall())
    with pytest.raises(ConfigError, match=r"another process plays as ann in house inn"):
        older.end()


def test_a_mailbox_that_lost_something_makes_it_join_anew(redis_server: RedisServer) -> None:
    redis_server.command("FLUSHALL")
    with Moderator(redis_server.url) as moderator, served(Bidder, redis_server.url):
        first = moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid")), catch_up())
        moderator.hear("ann", "reply")
        redis_server.command("DEL", streams.inbox(HOUSE, "ann"))
        redis_server.command("CLIENT", "KILL", "TYPE", "normal")
        moderator.hear_again("ann", first["instance"])
        moderator.deliver("ann", catch_up(ask("bid", 2)))
        assert moderator.hear("ann", "reply")["request"] == ask("bid", 2).id


def test_a_closed_lobby_does_not_keep_out_who_has_a_ticket_and_explains_why_nobody_answers(
    redis_server: RedisServer, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    redis_server.command("ACL", "SETUSER", "ann", "on", ">secret", *Holder(HOUSE, "agent", "ann").rules())
    ann_url = redis_url.replace("redis://", "redis://ann:secret@")
    try:
        with Moderator(redis_url) as moderator, served(Bidder, ann_url) as ann:
            moderator.welcome("ann")
            moderator.goodbye("ann")
            assert ann.end() == "all games are played"
            assert moderator.bus.length(streams.lobby(HOUSE)) == 0
        with served(Bidder, ann_url, name="bob") as stranger, pytest.raises(NotAllowed):
            stranger.end()
        monkeypatch.setattr("wolfbus.agent.member.HEARTBEAT_S", 0.02)
        monkeypatch.setattr("wolfbus.agent.member.UNANSWERED_S", 0.05)
        with Awaited("no moderator answers") as complaint, served(Bidder, ann_url):
            assert "; ann may not write to its lobby, so only one with --tickets hears of it" in complaint.wait()
    finally:
        redis_server.command("ACL", "DELUSER", "ann")


def test_nobody_who_answers_is_told_in_one_line(serve: Serve, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wolfbus.agent.member.HEARTBEAT_S", 0.02)
    monkeypatch.setattr("wolfbus.agent.member.UNANSWERED_S", 0.05)
    with Awaited("no moderator answers") as log:
        serve(Bidder)
        assert f"in house inn on {redis_url}" in log.wait()


def test_who_is_asked_to_stop_takes_no_new_games_and_says_that_it_leaves(moderator: Moderator, serve: Serve) -> None:
    ann = serve(Bidder)
    join = moderator.welcome("ann")
    ann.stopping.ask("SIGTERM")
    assert moderator.hear("ann", "join", seats=0)["instance"] == join["instance"]
    left = moderator.hear("ann", "leave")
    assert (left["instance"], left["reason"]) == (join["instance"], "SIGTERM")
    assert ann.end() == "SIGTERM"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"name": "two words"}, "agent 'two words': agent: "), ({"places": (1, 99)}, r"agent 'ann': places\.1: ")],
)
def test_what_no_message_can_hold_is_refused_before_anything_is_said(serve: Serve, wrong: dict[str, Any], message: str):
    with pytest.raises(ConfigError, match=message):
        serve(Bidder, **wrong).end()
