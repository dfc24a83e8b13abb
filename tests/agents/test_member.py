"""An agent's place in a house: joining, heartbeats, roll calls, and the ways in which it ends."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from tests.agents.parts import HOUSE, SOON_S, Aside, Moderator, catch_up, stay
from wolfbus.bus import Entry, streams
from wolfbus.errors import ConfigError, NotAllowed
from wolfbus.messages.codec import plain, unpack
from wolfbus.messages.house import Dropped, Goodbye, Refused, RollCall, Welcome
from wolfbus.testing.redis_server import RedisServer
from wolfbus.tickets.holders import Holder


class Ear:
    """Seats that nobody plays: what is delivered is kept."""

    playing = 0
    played = 0

    def __init__(self) -> None:
        self.heard: list[Entry] = []
        self.anew = 0
        self.welcomes = 0
        self.news = threading.Condition()

    def at(self, _member: object) -> Ear:
        return self

    def deliver(self, entries: Sequence[Entry]) -> None:
        with self.news:
            self.heard += entries
            self.news.notify_all()

    def again(self) -> None:
        with self.news:
            self.anew += 1
            self.news.notify_all()

    def welcome(self) -> None:
        with self.news:
            self.welcomes += 1
            self.news.notify_all()

    def report(self) -> tuple[str, dict[str, int]]:
        return "waiting", {"welcomes": self.welcomes}

    def close(self) -> None:
        pass

    def wait_for(self, count: int) -> list[Entry]:
        with self.news:
            assert self.news.wait_for(lambda: len(self.heard) >= count, SOON_S)
            return list(self.heard)


def ended(aside: Aside) -> str:
    """Return why it is over."""
    return cast("Any", aside.end()).reason


@pytest.fixture
def moderator(redis_url: str) -> Iterator[Moderator]:
    with Moderator(redis_url) as moderator:
        yield moderator


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wolfbus.agent.member.REJOIN_S", 0.02)


def test_an_agent_says_join_on_its_own_stream_and_knocks_at_the_lobby(moderator: Moderator, redis_url: str) -> None:
    with Aside(lambda stopping: stay(redis_url, seats=3, places=(2, 5)).run(Ear().at, stopping)):
        join = moderator.hear("ann", "join")
        assert (join["agent"], join["seats"], join["places"], join["brain"]) == ("ann", 3, (2, 5), "scripted")
        knocks = moderator.knocks()
        assert [(knock.type, knock.sender) for knock in knocks] == [("join", "ann")]
        assert unpack(knocks[0].body)["instance"] == join["instance"]


def test_it_says_join_again_as_often_as_the_moderator_wants_and_tells_what_it_has_seen(
    moderator: Moderator, redis_url: str
) -> None:
    with Aside(lambda stopping: stay(redis_url).run(Ear().at, stopping)):
        first = moderator.welcome("ann", again_s=0.02)
        while (again := moderator.hear("ann", "join")).get("seen") is None:
            pass
        assert again["instance"] == first["instance"]
        assert again["seen"] == moderator.bus.last_id(streams.inbox(HOUSE, "ann"))


def test_it_answers_a_roll_call_at_once(moderator: Moderator, redis_url: str) -> None:
    with Aside(lambda stopping: stay(redis_url).run(Ear().at, stopping)):
        first = moderator.welcome("ann")
        moderator.tell("ann", RollCall())
        assert moderator.hear("ann", "join")["instance"] == first["instance"]


def test_every_welcome_is_told_and_members_that_nobody_knows_are_passed_over(
    moderator: Moderator, redis_url: str
) -> None:
    ear = Ear()
    with Aside(lambda stopping: stay(redis_url).run(ear.at, stopping)):
        join = moderator.welcome("ann")
        welcome = Welcome(house=HOUSE, agent="ann", instance=str(join["instance"]), again_s=0.02)
        moderator.tell("ann", welcome.model_copy(update={"instance": "an earlier start"}))
        moderator.tell_plain("ann", {**plain(welcome), "motto": {"in": "Latin"}})
        moderator.hear("ann", "join")
        with ear.news:
            assert ear.news.wait_for(lambda: ear.welcomes == 2, SOON_S)


def test_types_of_message_that_nobody_knows_are_passed_over_with_a_line_for_debugging(
    moderator: Moderator, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "wolfbus")
    with Aside(lambda stopping: stay(redis_url).run(Ear().at, stopping)):
        join = moderator.welcome("ann")
        moderator.tell_plain("ann", {"v": 1, "type": "weather", "wind": 3})
        moderator.tell_plain("ann", {"v": 2, "type": "weather"})
        moderator.tell("ann", RollCall())
        assert moderator.hear("ann", "join")["instance"] == join["instance"]
    said = [record for record in caplog.records if "passed over" in record.getMessage()]
    assert [record.levelno for record in said] == [logging.DEBUG] * 2
    assert "'weather' is not known here" in said[0].getMessage()


def test_that_a_game_was_dropped_is_handed_on_in_its_place_among_deliveries(
    moderator: Moderator, redis_url: str
) -> None:
    ear = Ear()
    with Aside(lambda stopping: stay(redis_url).run(ear.at, stopping)):
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up())
        moderator.tell("ann", Dropped(game="game-1", reason="the moderator failed"))
        moderator.deliver("ann", catch_up(game="g2"))
        assert [entry.type for entry in ear.wait_for(3)] == ["catch_up", "dropped", "catch_up"]


def test_a_goodbye_ends_the_stay_but_not_one_that_is_older_than_it(moderator: Moderator, redis_url: str) -> None:
    moderator.goodbye("ann")
    with Aside(lambda stopping: stay(redis_url).run(Ear().at, stopping)) as aside:
        moderator.welcome("ann")
        moderator.tell("ann", Goodbye(reason="it is late"))
        assert ended(aside) == "it is late"


def test_who_is_not_taken_hears_why(moderator: Moderator, redis_url: str) -> None:
    with Aside(lambda stopping: stay(redis_url).run(Ear().at, stopping)) as aside:
        join = moderator.hear("ann", "join")
        moderator.tell("ann", Refused(instance="another", reason="not you"))
        moderator.tell("ann", Refused(instance=str(join["instance"]), reason="the house is full"))
        with pytest.raises(ConfigError, match="does not take ann: the house is full"):
            aside.end()


def test_of_two_processes_under_one_name_the_older_one_leaves(moderator: Moderator, redis_url: str) -> None:
    with Aside(lambda stopping: stay(redis_url, again_s=0.02).run(Ear().at, stopping)) as older:
        first = moderator.hear("ann", "join")
        with Aside(lambda stopping: stay(redis_url).run(Ear().at, stopping)):
            moderator.hear_again("ann", first["instance"])
            with pytest.raises(ConfigError, match=r"another process plays as ann in house inn"):
                older.end()


def test_a_mailbox_that_lost_something_makes_it_join_anew(moderator: Moderator, redis_server: RedisServer) -> None:
    ear = Ear()
    redis_server.command("FLUSHALL")
    moderator = Moderator(redis_server.url)
    with moderator, Aside(lambda stopping: stay(redis_server.url).run(ear.at, stopping)):
        first = moderator.welcome("ann")
        moderator.deliver("ann", catch_up(), catch_up())
        ear.wait_for(2)
        redis_server.command("DEL", streams.inbox(HOUSE, "ann"))
        redis_server.command("CLIENT", "KILL", "TYPE", "normal")
        moderator.hear_again("ann", first["instance"])
        assert ear.anew == 1
        moderator.deliver("ann", catch_up())
        ear.wait_for(3)


def test_a_closed_lobby_does_not_keep_out_who_has_a_ticket(redis_server: RedisServer, redis_url: str) -> None:
    redis_server.command("ACL", "SETUSER", "ann", "on", ">secret", *Holder(HOUSE, "agent", "ann").rules())
    own = redis_url.replace("redis://", "redis://ann:secret@")
    try:
        with Moderator(redis_url) as moderator, Aside(lambda stopping: stay(own).run(Ear().at, stopping)) as aside:
            moderator.welcome("ann")
            moderator.goodbye("ann")
            assert ended(aside) == "all games are played"
            assert moderator.bus.length(streams.lobby(HOUSE)) == 0
        with Aside(lambda stopping: stay(own, "bob").run(Ear().at, stopping)) as stranger, pytest.raises(NotAllowed):
            stranger.end()
    finally:
        redis_server.command("ACL", "DELUSER", "ann")


def test_nobody_who_answers_is_told_in_one_line(redis_url: str, caplog: pytest.LogCaptureFixture) -> None:
    told = threading.Event()

    class Told(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if "no moderator answers" in record.getMessage():
                told.set()

    handler = Told()
    logging.getLogger("wolfbus.agent.member").addHandler(handler)
    try:
        with Aside(lambda stopping: stay(redis_url, again_s=0.02, lonely_s=0.05).run(Ear().at, stopping)):
            assert told.wait(SOON_S)
    finally:
        logging.getLogger("wolfbus.agent.member").removeHandler(handler)
    line = next(line for line in caplog.messages if "no moderator" in line)
    assert f"in house inn on {redis_url}" in line


def test_who_is_asked_to_stop_takes_no_new_games_and_says_that_it_leaves(moderator: Moderator, redis_url: str) -> None:
    with Aside(lambda stopping: stay(redis_url).run(Ear().at, stopping)) as aside:
        join = moderator.welcome("ann")
        aside.stopping.ask("SIGTERM")
        assert moderator.hear("ann", "join", seats=0)["instance"] == join["instance"]
        left = moderator.hear("ann", "leave")
        assert (left["instance"], left["reason"]) == (join["instance"], "SIGTERM")
        assert ended(aside) == "SIGTERM"


def test_an_introduction_that_no_message_can_hold_is_refused_before_anything_is_said(redis_url: str) -> None:
    with (
        Aside(lambda stopping: stay(redis_url, "two words").run(Ear().at, stopping)) as aside,
        pytest.raises(ConfigError, match="agent 'two words': agent:"),
    ):
        aside.end()
