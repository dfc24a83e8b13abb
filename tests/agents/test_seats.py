"""Seats that are played: from a catch-up, nothing worked on twice, rejoining on a gap, other stories, graceful ends."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pytest

from players.scripted import ScriptedBrain
from players.spec import build
from tests.agents.parts import (
    DAWN,
    ENDED,
    GAME,
    HOUSE,
    SAID,
    SOON_S,
    Aside,
    Bidder,
    Moderator,
    Serve,
    ask,
    catch_up,
    step,
)
from wolfbus.agent import Agent
from wolfbus.cli import FAILED, run
from wolfbus.errors import PlayerError
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.content import Bid, Judgement
from wolfbus.messages.events import AnsweredAssessOther, Dawn, Inspection, Statement
from wolfbus.messages.house import Dropped, RollCall
from wolfbus.messages.requests import Ask
from wolfbus.testing.model_server import ModelServer


def test_a_seat_is_played_from_its_catch_up_on_and_one_that_starts_anew_gives_the_same_answers(moderator, serve):
    replies = []
    for _ in range(2):
        ann = serve(ScriptedBrain)
        join = moderator.welcome("ann")
        moderator.deliver("ann", catch_up(ask("bid")), step(ask("assess_other")))
        replies.append([moderator.hear("ann", "reply"), moderator.hear("ann", "reply")])
        ann.stopping.ask("killed, as it were")
        assert moderator.hear("ann", "leave")["instance"] == join["instance"]
    bid, judgement = replies[0]
    assert (bid["request"], bid["seat"]) == (ask("bid").id, "Ada")
    assert judgement["content"]["suspicion"] > 0
    assert replies[0] == replies[1]


def test_a_question_in_a_game_that_is_over_or_to_a_seat_never_seated_here_is_passed_over(moderator, serve, caplog):
    caplog.set_level(logging.DEBUG, "wolfbus.agent")
    serve(Bidder)
    first = moderator.welcome("ann")
    moderator.deliver("ann", catch_up(public=[DAWN, ENDED]), step(ask("bid", 1)), step(ask("bid"), game="strange"))
    moderator.deliver("ann", step(ask("bid"), seat="Hugo"), catch_up(ask("bid", 2, game="g2"), game="g2"))
    assert moderator.hear("ann", "reply")["request"] == ask("bid", 2, game="g2").id
    moderator.tell("ann", RollCall())
    assert moderator.hear("ann", "join")["instance"] == first["instance"]
    assert caplog.text.count("is not seated here: passed over") == 3
    assert "joins anew" not in caplog.text


def test_a_game_that_was_dropped_is_forgotten(moderator: Moderator, serve: Serve) -> None:
    ann = serve(Bidder, once=True)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid", 1)))
    moderator.hear("ann", "join", seats=0)
    moderator.tell("ann", Dropped(game="another", reason="none of ours"))
    moderator.tell("ann", Dropped(game=GAME, reason="the moderator failed"))
    assert moderator.hear("ann", "leave")["reason"] == ann.end() == "its game is over"


def test_one_that_leaves_after_a_game_takes_no_other_from_its_first_answer_on(
    moderator: Moderator, serve: Serve
) -> None:
    ann = serve(Bidder, once=True)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid", 1)), step(public=[ENDED], first=3))
    moderator.hear("ann", "join", seats=0)
    # what comes before that is passed over here
    moderator.hear("ann", "reply")
    assert moderator.hear("ann", "leave")["reason"] == ann.end() == "its game is over"


@pytest.mark.parametrize(
    ("end", "winner"),
    [(Dropped(game=GAME, reason="the moderator failed"), None), (step(public=[ENDED], first=3), "villagers")],
)
def test_a_program_hears_bye_and_who_has_won_if_the_game_came_so_far_even_while_it_thinks(
    moderator: Moderator, serve: Serve, tmp_path: Path, end: Any, winner: str | None
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    program = tmp_path / "program.sh"
    program.write_text(
        "while IFS= read -r line; do case $line in\n"
        """  *'"kind":"bid"'*) id=${line#*'"id":"'}; printf '{"id":"%s","bid":4}\\n' "${id%%'"'*}";;\n"""
        f"""  *'"type":"bye"'*) printf '%s\\n' "$line" > '{fifo}';;\n"""
        "esac; done\n"
    )
    serve(Agent, make=lambda: build(f"exec:sh {program}"))
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid")))
    assert moderator.hear("ann", "reply")["content"] == {"bid": 4}
    moderator.deliver("ann", step(ask("vote")))
    moderator.tell("ann", end, game=getattr(end, "game", ""))
    bye = json.loads(fifo.read_text())
    assert (bye["type"], bye.get("winner")) == ("bye", winner)
    assert ("roles" in bye) == (winner is not None)


def test_a_game_given_up_after_long_silence_is_caught_up_if_it_goes_on(moderator, serve, monkeypatch):
    monkeypatch.setattr("wolfbus.agent.router.FORGET_S", -1.0)
    serve(Bidder)
    first = moderator.welcome("ann")
    moderator.deliver("ann", catch_up(), catch_up(game="g2"), step(ask("bid")))
    moderator.hear_again("ann", first["instance"])
    moderator.deliver("ann", catch_up(ask("bid")))
    assert moderator.hear("ann", "reply")["request"] == ask("bid").id


def test_a_gap_is_healed_by_joining_anew_and_only_what_is_new_is_taken_in(moderator: Moderator, serve: Serve) -> None:
    serve(Bidder)
    first = moderator.welcome("ann")
    moderator.deliver("ann", catch_up(public=[DAWN]))
    moderator.deliver("ann", step(ask("bid", 2), public=[SAID], first=3))
    moderator.hear_again("ann", first["instance"])
    moderator.deliver("ann", catch_up(ask("bid", 2), public=[DAWN, SAID, SAID]))
    assert moderator.hear("ann", "reply")["request"] == ask("bid", 2).id
    moderator.deliver("ann", step(ask("bid", 3)))
    assert moderator.hear("ann", "reply")["request"] == ask("bid", 3).id


class Later(Agent):
    """Is handed requests, and answers none of them itself."""

    handed_over: ClassVar[queue.SimpleQueue[tuple[tuple[Ask, ...], Any]]] = queue.SimpleQueue()

    def start(self, asks: tuple[Ask, ...], view: SeatView, replies: Any, /) -> None:
        self.handed_over.put((asks, replies))


def test_only_what_a_catch_up_asks_is_answered_and_again_only_what_was_answered_before_it_was_asked_for(
    moderator: Moderator, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    lost, answered_late, working, closed = (ask("bid", turn) for turn in (1, 2, 3, 4))
    serve(Later)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(lost, answered_late, working, closed))
    asks, replies = Later.handed_over.get(timeout=SOON_S)
    assert asks == (lost, answered_late, working, closed)
    replies.answer(lost, 1)
    assert moderator.hear("ann", "reply")["request"] == lost.id
    moderator.tell("ann", RollCall())
    moderator.hear("ann", "join")
    # this answer is on its way while the catch-up is made
    replies.answer(answered_late, 2)
    moderator.deliver("ann", catch_up(lost, answered_late, working))
    asks, replies = Later.handed_over.get(timeout=SOON_S)
    assert asks == (lost,)
    for answered in (closed, working, lost):
        replies.answer(answered, 3)
    assert [moderator.hear("ann", "reply")["request"] for _ in range(3)] == [answered_late.id, working.id, lost.id]
    # nor is it told that an answer failed which nobody wants
    replies.answer(closed, object())
    assert "the brain failed" not in caplog.text


def statement_of(text: str, statement: int = 1) -> Statement:
    return Statement(statement=statement, round=1, phase="debate", turn=statement, speaker="Bruno", text=text)


SEEN = Inspection(round=1, seat="Ada", target="Bruno", role="Werewolf")
JUDGED = AnsweredAssessOther(
    batch=1, seat="Ada", about=1, content=Judgement(deceptive=True, suspicion=0.9, confidence=1.0), outcome="accepted"
)


class Numbered(Agent):
    """Bids which of its kind it is."""

    count: ClassVar[int] = 0
    quick = True

    def __init__(self) -> None:
        self.number = Numbered.count
        Numbered.count += 1

    def bid(self, ask: Ask, view: SeatView, /) -> int:
        return self.number


@pytest.mark.parametrize(
    ("before", "again", "another"),
    [
        ({}, {}, 0),
        ({}, {"public": (DAWN, SAID, Dawn(round=2))}, 0),
        ({}, {"public": (DAWN, statement_of("As it stands in the record now."))}, 1),
        ({}, {"public": (DAWN,)}, 1),
        ({}, {"public": (SAID, DAWN)}, 1),
        ({}, {"public": (Dawn(round=1), SAID, SAID)}, 1),
        ({}, {"public": ()}, 1),
        ({"private": (SEEN,)}, {"private": (SEEN,)}, 0),
        ({"private": (SEEN,)}, {"private": (SEEN.model_copy(update={"role": "Villager"}),)}, 1),
        ({"private": (SEEN,)}, {}, 1),
        ({"public": (SAID,), "private": (JUDGED,)}, {"public": (SAID,), "private": (JUDGED,)}, 0),
        ({"public": (SAID,), "private": (JUDGED,)}, {"public": (DAWN,)}, 1),
    ],
)
def test_a_catch_up_that_tells_otherwise_or_less_is_another_story_for_another_agent(
    moderator: Moderator, serve: Serve, before: dict[str, Any], again: dict[str, Any], another: int
) -> None:
    Numbered.count = 0
    serve(Numbered)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid", 1), **before), catch_up(ask("bid", 2), **again))
    assert [moderator.hear("ann", "reply")["content"]["bid"] for _ in range(2)] == [0, another]


class Elephant(Agent):
    """Remembers what it heard outside its view; tells who it is, and is slow about it."""

    instances: ClassVar[list[Elephant]] = []
    begun: ClassVar[threading.Semaphore] = threading.Semaphore(0)
    go: ClassVar[threading.Event] = threading.Event()

    def __init__(self) -> None:
        self.instances.append(self)
        self.texts: list[str] = []
        self.closed = False

    def bid(self, ask: Ask, view: SeatView, /) -> Bid:
        self.texts += [statement.text for statement in view.statements.values()]
        self.begun.release()
        if ask.turn == 2:
            assert self.go.wait(SOON_S)
        return Bid(bid=self.instances.index(self))

    def close(self) -> None:
        self.closed = True


def test_another_story_puts_aside_view_and_agent_and_what_it_was_about_to_answer(moderator: Moderator, serve: Serve):
    Elephant.instances.clear()
    Elephant.go.clear()
    serve(Elephant)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid", 1), public=[DAWN, statement_of("so it was")]))
    assert moderator.hear("ann", "reply")["content"]["bid"] == 0
    moderator.deliver("ann", step(ask("bid", 2), public=[statement_of("and so", 2)], first=3))
    moderator.deliver("ann", step(ask("bid", 3)))
    assert Elephant.begun.acquire(timeout=SOON_S)
    assert Elephant.begun.acquire(timeout=SOON_S)
    moderator.deliver("ann", catch_up(ask("bid", 2), public=[DAWN, statement_of("so it is")]))
    assert Elephant.begun.acquire(timeout=SOON_S)
    Elephant.go.set()
    reply = moderator.hear("ann", "reply")
    assert (reply["request"], reply["content"]["bid"]) == (ask("bid", 2).id, 1)
    moderator.deliver("ann", step(ask("bid", 4)))
    assert moderator.hear("ann", "reply")["request"] == ask("bid", 4).id
    old, new = Elephant.instances
    assert old.closed
    assert set(old.texts) == {"so it was", "and so"}
    assert set(new.texts) == {"so it is"}


class OneTerminal(Agent):
    """There can be one at a time, and it takes a moment to go."""

    lock: ClassVar[threading.Lock] = threading.Lock()
    going: ClassVar[threading.Event] = threading.Event()
    quick = True

    def __init__(self) -> None:
        if not self.lock.acquire(blocking=False):
            self.going.set()
            raise PlayerError("only one person can play at one terminal")

    def bid(self, ask: Ask, view: SeatView, /) -> Bid:
        return Bid(bid=3)

    def close(self) -> None:
        assert self.game != GAME or self.going.wait(SOON_S)
        self.lock.release()


Player: TypeAlias = Callable[..., Aside]


@pytest.fixture
def player(moderator: Moderator, redis_url: str) -> Iterator[Player]:
    """Runs the command of a player called ann, which a goodbye alone can end, whatever becomes of the test."""
    where = ["--bus", redis_url, "--house", HOUSE, "--name", "ann", "--grace", "0"]
    with contextlib.ExitStack() as ending:

        def run_player(brain: str, *words: str) -> Aside:
            ann = ending.enter_context(Aside(lambda _: run(["player", *where, "--brain", brain, *words])))
            ending.callback(moderator.goodbye, "ann")
            return ann

        yield run_player


def test_a_seat_of_the_next_game_waits_for_what_the_game_before_still_holds(moderator: Moderator, player: Player):
    player(f"{__name__}:OneTerminal")
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(public=[ENDED]), catch_up(ask("bid", game="g2"), game="g2"))
    assert moderator.hear("ann", "reply")["content"] == {"bid": 3}


@pytest.mark.parametrize("grace_s", [SOON_S, 0.05])
def test_asked_to_stop_it_plays_its_game_to_the_end_unless_that_takes_longer_than_the_grace(moderator, serve, grace_s):
    ann = serve(Bidder, grace_s=grace_s)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid", 1)))
    moderator.hear("ann", "reply")
    ann.stopping.ask("SIGTERM")
    moderator.hear("ann", "join", seats=0)
    if grace_s == SOON_S:
        moderator.deliver("ann", step(ask("bid", 2)))
        moderator.hear("ann", "reply")
        moderator.deliver("ann", step(public=[ENDED], first=3))
    assert moderator.hear("ann", "leave")["reason"] == ann.end() == "SIGTERM"


def test_a_player_of_whose_model_nothing_can_be_read_ends_with_that_reason(moderator, player, capfd):
    with ModelServer(ugly={"html": 1.0}) as server:
        ann = player(f"llm:any@{server.url}", "--give-up", "2")
        moderator.welcome("ann")
        # the reply and what comes of asking again
        moderator.deliver("ann", catch_up(ask("bid")))
        reason = moderator.hear("ann", "leave")["reason"]
        assert ann.end() == FAILED
    assert "2 replies in a row could not be had or read, and none before" in reason
    assert f"wolfbus: {reason}\n" in capfd.readouterr().err


def test_a_player_whose_model_does_not_answer_tells_the_house_why_it_leaves(moderator, player, capfd):
    ann = player("llm:any@http://127.0.0.1:9/v1", "--seats", "3")
    joined = moderator.welcome("ann")
    assert (joined["seats"], joined["in_house"], joined["brain"]) == (0, True, "llm:any@http://127.0.0.1:9/v1")
    left = moderator.hear("ann", "leave")
    reason = "any does not answer: http://127.0.0.1:9/v1: connection refused (3 attempts)"
    assert (ann.end(), left["failed"], left["reason"]) == (FAILED, True, reason)
    assert capfd.readouterr().err.splitlines()[-1] == f"wolfbus: {reason}"


def test_a_player_whose_budget_ends_under_way_tells_the_house_that_it_cannot_play_on(moderator, player, capfd):
    with ModelServer() as server:
        ann = player(f"llm:any@{server.url}", "--no-probe", "--budget-tokens", "2000")
        moderator.welcome("ann", seats=1)
        moderator.deliver("ann", catch_up(ask("bid")))
        left = moderator.hear("ann", "leave")
        assert (ann.end(), left["failed"]) == (FAILED, True)
    assert "the budget" in left["reason"]
    assert capfd.readouterr().err.splitlines()[-1] == f"wolfbus: {left['reason']}"


def test_health_says_what_a_player_does(moderator: Moderator, player: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    news = threading.Condition()

    def note(_health: object, state: str, _ok: bool = True, **_details: object) -> None:
        with news:
            seen.append(state)
            news.notify_all()

    def reached(state: str) -> None:
        with news:
            assert news.wait_for(lambda: state in seen, SOON_S)

    monkeypatch.setattr("wolfbus.service.lifecycle.Health.set", note)
    ann = player("scripted")
    reached("joining")
    moderator.welcome("ann")
    reached("waiting")
    moderator.deliver("ann", catch_up())
    reached("playing")
    moderator.goodbye("ann")
    assert ann.end() == 0
    assert seen[-1] == "leaving"
