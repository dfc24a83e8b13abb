"""The player service: seats from a catch-up, nothing worked on twice, rejoining on a gap, graceful ends."""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

from players.context import BrainContext
from players.service import PlayerSettings, serve
from tests.agents.parts import (
    DAWN,
    ENDED,
    GAME,
    SAID,
    SOON_S,
    Aside,
    Moderator,
    ask,
    catch_up,
    grown,
    stay,
    step,
)
from wolfbus.agent import Agent
from wolfbus.errors import BudgetSpent, GivenUp, PlayerError
from wolfbus.messages.codec import plain
from wolfbus.messages.content import Bid
from wolfbus.messages.events import Statement
from wolfbus.messages.house import Dropped, RollCall
from wolfbus.messages.requests import Ask
from wolfbus.service.lifecycle import Health, Stopping
from wolfbus.testing.model_server import ModelServer
from wolfbus.view import SeatView


@pytest.fixture
def moderator(redis_url: str) -> Iterator[Moderator]:
    with Moderator(redis_url) as moderator:
        yield moderator


@pytest.fixture(autouse=True)
def prompt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wolfbus.agent.member.REJOIN_S", 0.02)


def player(url: str, brain: str = "scripted", **more: object) -> Aside:
    """Start a player service called ann."""
    more.setdefault("grace_s", 0.0)

    def run(stopping: Stopping) -> int:
        with BrainContext() as brain_context:
            return serve(PlayerSettings(stay(url, brain=brain, in_house=True, **more), brain), brain_context, stopping)

    return Aside(run)


def test_a_seat_is_played_from_its_catch_up_on_until_the_house_closes(moderator: Moderator, redis_url: str) -> None:
    with player(redis_url) as ann:
        join = moderator.welcome("ann")
        assert join["in_house"] is True
        moderator.deliver("ann", catch_up(ask("bid")))
        reply = moderator.hear("ann", "reply")
        assert (reply["request"], reply["seat"]) == (ask("bid").id, "Ada")
        moderator.deliver("ann", step(ask("assess_other")))
        assert moderator.hear("ann", "reply")["content"]["suspicion"] > 0
        moderator.goodbye("ann")
        assert ann.end() == 0


def test_a_player_that_starts_anew_gives_the_same_answer_to_the_same_request(
    moderator: Moderator, redis_url: str
) -> None:
    replies = []
    for _ in range(2):
        with player(redis_url) as ann:
            join = moderator.welcome("ann")
            moderator.deliver("ann", catch_up(ask("bid"), ask("assess_other")))
            replies.append([moderator.hear("ann", "reply"), moderator.hear("ann", "reply")])
            ann.stopping.ask("killed, as it were")
            assert moderator.hear("ann", "leave")["instance"] == join["instance"]
    assert replies[0] == replies[1]


def test_a_question_in_a_game_that_is_over_or_to_a_seat_never_seated_here_is_passed_over(
    moderator: Moderator, redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "wolfbus.agent")
    with player(redis_url):
        first = moderator.welcome("ann")
        moderator.deliver("ann", catch_up(told=[DAWN, ENDED]), step(ask("bid", 1)), step(ask("bid"), game="strange"))
        moderator.deliver("ann", step(ask("bid"), seat="Hugo"), catch_up(ask("bid", 2, game="g2"), game="g2"))
        assert moderator.hear("ann", "reply")["request"] == ask("bid", 2, game="g2").id
        moderator.tell("ann", RollCall())
        assert moderator.hear("ann", "join")["instance"] == first["instance"]
    assert caplog.text.count("is not seated here: passed over") == 3
    assert "joins anew" not in caplog.text


def test_members_that_nobody_knows_are_passed_over_wherever_they_stand(moderator: Moderator, redis_url: str) -> None:
    with player(redis_url):
        moderator.welcome("ann")
        moderator.tell_plain("ann", grown(plain(catch_up(ask("vote")))), GAME)
        moderator.tell_plain("ann", grown({"v": 1, "type": "weather", "game": GAME}), GAME)
        moderator.tell_plain("ann", grown(plain(step(ask("bid", 2), told=[SAID], first=3))), GAME)
        assert [moderator.hear("ann", "reply")["kind"] for _ in range(2)] == ["vote", "bid"]


def test_a_game_that_was_dropped_is_forgotten(moderator: Moderator, redis_url: str) -> None:
    with player(redis_url, once=True) as ann:
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid", 1)))
        moderator.hear("ann", "join", seats=0)
        moderator.tell("ann", Dropped(game="another", reason="none of ours"))
        moderator.tell("ann", Dropped(game=GAME, reason="the moderator failed"))
        assert moderator.hear("ann", "leave")["reason"] == "its game is over"
        assert ann.end() == 0


@pytest.mark.parametrize(
    ("end", "winner"),
    [(Dropped(game=GAME, reason="the moderator failed"), None), (step(told=[ENDED], first=3), "villagers")],
)
def test_a_program_hears_bye_and_who_has_won_if_the_game_came_so_far_even_while_it_thinks(
    moderator: Moderator, redis_url: str, tmp_path: Path, end: Any, winner: str | None
) -> None:
    said = tmp_path / "said"
    os.mkfifo(said)
    program = tmp_path / "program.sh"
    program.write_text(
        "while IFS= read -r line; do case $line in\n"
        """  *'"kind":"bid"'*) id=${line#*'"id":"'}; printf '{"id":"%s","bid":4}\\n' "${id%%'"'*}";;\n"""
        f"""  *'"type":"bye"'*) printf '%s\\n' "$line" > '{said}';;\n"""
        "esac; done\n"
    )
    with player(redis_url, f"exec:sh {program}"):
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid")))
        assert moderator.hear("ann", "reply")["content"] == {"bid": 4}
        moderator.deliver("ann", step(ask("vote")))
        moderator.tell("ann", end, game=getattr(end, "game", ""))
        bye = json.loads(said.read_text())
        assert (bye["type"], bye.get("winner")) == ("bye", winner)
        assert ("roles" in bye) == (winner is not None)


def test_a_game_given_up_after_long_silence_is_caught_up_if_it_goes_on(
    moderator: Moderator, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wolfbus.agent.router.FORGET_S", -1.0)
    with player(redis_url):
        first = moderator.welcome("ann")
        moderator.deliver("ann", catch_up(), catch_up(game="g2"), step(ask("bid")))
        moderator.hear_again("ann", first["instance"])
        moderator.deliver("ann", catch_up(ask("bid")))
        assert moderator.hear("ann", "reply")["request"] == ask("bid").id


def test_a_gap_is_healed_by_joining_anew_and_only_what_is_new_is_taken_in(moderator: Moderator, redis_url: str) -> None:
    with player(redis_url):
        first = moderator.welcome("ann")
        moderator.deliver("ann", catch_up(told=[DAWN]))
        moderator.deliver("ann", step(ask("bid", 2), told=[SAID], first=3))
        moderator.hear_again("ann", first["instance"])
        moderator.deliver("ann", catch_up(ask("bid", 2), told=[DAWN, SAID, SAID]))
        assert moderator.hear("ann", "reply")["request"] == ask("bid", 2).id
        moderator.deliver("ann", step(ask("bid", 3)))
        assert moderator.hear("ann", "reply")["request"] == ask("bid", 3).id


def test_what_was_answered_before_a_roll_call_and_is_asked_after_it_did_not_arrive_and_is_answered_again(
    moderator: Moderator, redis_url: str
) -> None:
    with player(redis_url):
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid", 1)))
        reply = moderator.hear("ann", "reply")
        moderator.tell("ann", RollCall())
        moderator.hear("ann", "join")
        moderator.deliver("ann", catch_up(ask("bid", 1)))
        assert moderator.hear("ann", "reply") == reply


class Slow(Agent):
    """Bids when it is let; tells what it was asked."""

    asked: ClassVar[list[str]] = []
    begun: ClassVar[threading.Semaphore] = threading.Semaphore(0)
    go: ClassVar[threading.Semaphore] = threading.Semaphore(0)

    def bid(self, ask: Ask, view: SeatView, /) -> Bid:
        self.asked.append(ask.id)
        self.begun.release()
        assert self.go.acquire(timeout=SOON_S)
        return Bid(bid=ask.turn)


def test_a_request_that_is_being_worked_on_is_not_begun_again(moderator: Moderator, redis_url: str) -> None:
    Slow.asked.clear()
    with player(redis_url, f"{__name__}:Slow"):
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid", 1)))
        assert Slow.begun.acquire(timeout=SOON_S)
        moderator.deliver("ann", catch_up(ask("bid", 1)), step(ask("bid", 2)))
        Slow.go.release(2)
        assert [moderator.hear("ann", "reply")["content"]["bid"] for _ in range(2)] == [1, 2]
        assert Slow.asked == [ask("bid", 1).id, ask("bid", 2).id]


class Elephant(Agent):
    """Remembers what it heard outside its view; tells who it is, and is slow about it."""

    made: ClassVar[list[Elephant]] = []
    begun: ClassVar[threading.Semaphore] = threading.Semaphore(0)
    go: ClassVar[threading.Event] = threading.Event()

    def __init__(self) -> None:
        self.made.append(self)
        self.heard: list[str] = []
        self.closed = False

    def bid(self, ask: Ask, view: SeatView, /) -> Bid:
        self.heard += [said.text for said in view.statements.values()]
        self.begun.release()
        if ask.turn == 2:
            assert self.go.wait(SOON_S)
        return Bid(bid=self.made.index(self))

    def close(self) -> None:
        self.closed = True


def said(text: str, statement: int = 1) -> Statement:
    return Statement(statement=statement, round=1, phase="debate", turn=statement, speaker="Bruno", text=text)


def test_a_catch_up_that_tells_another_story_puts_aside_view_and_brain_and_what_it_was_about_to_answer(
    moderator: Moderator, redis_url: str
) -> None:
    Elephant.made.clear()
    Elephant.go.clear()
    with player(redis_url, f"{__name__}:Elephant"):
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid", 1), told=[DAWN, said("so it was")]))
        assert moderator.hear("ann", "reply")["content"]["bid"] == 0
        moderator.deliver("ann", step(ask("bid", 2), told=[said("and so", 2)], first=3))
        moderator.deliver("ann", step(ask("bid", 3)))
        assert Elephant.begun.acquire(timeout=SOON_S)
        assert Elephant.begun.acquire(timeout=SOON_S)
        moderator.deliver("ann", catch_up(ask("bid", 2), told=[DAWN, said("so it is")]))
        assert Elephant.begun.acquire(timeout=SOON_S)
        Elephant.go.set()
        reply = moderator.hear("ann", "reply")
        assert (reply["request"], reply["content"]["bid"]) == (ask("bid", 2).id, 1)
        moderator.deliver("ann", step(ask("bid", 4)))
        assert moderator.hear("ann", "reply")["request"] == ask("bid", 4).id
    old, new = Elephant.made
    assert old.closed
    assert set(old.heard) == {"so it was", "and so"}
    assert set(new.heard) == {"so it is"}


class OneTerminal(Agent):
    """There can be one at a time, and it takes a moment to go."""

    taken: ClassVar[threading.Lock] = threading.Lock()
    going: ClassVar[threading.Event] = threading.Event()
    quick = True

    def __init__(self) -> None:
        if not self.taken.acquire(blocking=False):
            self.going.set()
            raise PlayerError("only one person can play at one terminal")

    def bid(self, ask: Ask, view: SeatView, /) -> Bid:
        return Bid(bid=3)

    def close(self) -> None:
        assert self.going.wait(SOON_S)
        self.taken.release()


def test_a_seat_of_the_next_game_waits_for_what_the_game_before_still_holds(
    moderator: Moderator, redis_url: str
) -> None:
    with player(redis_url, f"{__name__}:OneTerminal"):
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(told=[ENDED]), catch_up(ask("bid", game="g2"), game="g2"))
        assert moderator.hear("ann", "reply")["content"] == {"bid": 3}


def test_asked_to_stop_it_plays_its_game_to_the_end(moderator: Moderator, redis_url: str) -> None:
    with player(redis_url, grace_s=SOON_S) as ann:
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid", 1)))
        moderator.hear("ann", "reply")
        ann.stopping.ask("SIGTERM")
        moderator.hear("ann", "join", seats=0)
        moderator.deliver("ann", step(ask("bid", 2)))
        moderator.hear("ann", "reply")
        moderator.deliver("ann", step(told=[ENDED], first=3))
        assert moderator.hear("ann", "leave")["reason"] == "SIGTERM"
        assert ann.end() == 0


def test_a_game_that_takes_longer_than_the_grace_is_left(moderator: Moderator, redis_url: str) -> None:
    with player(redis_url, grace_s=0.05) as ann:
        moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid", 1)))
        moderator.hear("ann", "reply")
        ann.stopping.ask("SIGTERM")
        moderator.hear("ann", "leave")
        assert ann.end() == 0


def test_brains_that_cannot_go_on_end_the_service(moderator: Moderator, redis_url: str) -> None:
    with BrainContext() as brain_context:

        def run(stopping: Stopping) -> int:
            return serve(PlayerSettings(stay(redis_url), "scripted"), brain_context, stopping)

        with Aside(run) as ann:
            moderator.welcome("ann")
            assert brain_context.fatal is not None
            brain_context.fatal(BudgetSpent("the budget of $1 is spent"))
            with pytest.raises(PlayerError, match="the budget of"):
                ann.end()
        assert moderator.hear("ann", "leave")["reason"] == "the budget of $1 is spent"


def test_a_player_of_whose_model_nothing_can_be_read_ends_with_that_reason(
    moderator: Moderator, redis_url: str
) -> None:
    with ModelServer(ugly={"html": 1.0}) as server:

        def run(stopping: Stopping) -> int:
            brain = f"llm:any@{server.url}"
            with BrainContext(give_up=2) as brain_context:
                settings = PlayerSettings(stay(redis_url, brain=brain, in_house=True, grace_s=0.0), brain)
                return serve(settings, brain_context, stopping)

        with Aside(run) as ann:
            moderator.welcome("ann")
            # the reply and what comes of asking again
            moderator.deliver("ann", catch_up(ask("bid")))
            reason = moderator.hear("ann", "leave")["reason"]
            with pytest.raises(GivenUp, match="2 replies in a row could not be read, and none before") as error:
                ann.end()
        assert reason == str(error.value)


def test_health_says_what_a_player_does(moderator: Moderator, redis_url: str) -> None:
    seen: list[str] = []
    news = threading.Condition()

    class Watched(Health):
        def set(self, state: str, ok: bool = True, **details: object) -> None:
            super().set(state, ok, **details)
            with news:
                seen.append(state)
                news.notify_all()

    def reached(state: str) -> None:
        with news:
            assert news.wait_for(lambda: state in seen, SOON_S)

    def run(stopping: Stopping) -> int:
        with BrainContext() as brain_context:
            return serve(PlayerSettings(stay(redis_url), "scripted"), brain_context, stopping, Watched(None))

    with Aside(run) as ann:
        reached("joining")
        moderator.welcome("ann")
        reached("waiting")
        moderator.deliver("ann", catch_up())
        reached("playing")
        moderator.goodbye("ann")
        assert ann.end() == 0
    assert seen[-1] == "leaving"
