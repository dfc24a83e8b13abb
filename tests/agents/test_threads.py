"""Which thread an agent's seats are asked on, what they hold up, and how what they answer leaves."""

import contextlib
import itertools
import threading
import time
from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from tests.agents.parts import SOON_S, Moderator, Serve, ask, catch_up, part, seated, step
from wolfbus.agent import Agent, Answer
from wolfbus.bus import Entry, open_bus
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Ask


class Hasty(Agent):
    """Answers in a moment, on which thread it says; every other bid fails."""

    quick = True

    def bid(self, ask: Ask, view: SeatView, /) -> Answer:
        if ask.turn % 2:
            raise LookupError("no number")
        return Answer(1, thought=threading.current_thread().name)

    def vote(self, ask: Ask, view: SeatView, /) -> Answer:
        return Answer(None, thought=threading.current_thread().name)


class Slow(Hasty):
    quick = False


@pytest.mark.parametrize(("agent", "thread"), [(Hasty, "bus-reader"), (Slow, "agent-Ada")])
def test_who_answers_in_a_moment_is_asked_by_the_thread_that_reads_and_nobody_else_is(moderator, serve, agent, thread):
    serve(agent)
    moderator.welcome("ann")
    moderator.deliver("ann", catch_up(ask("bid")))
    assert moderator.hear("ann", "reply")["fault"] == "failed"
    # a thread of the pool caught the seats up; it asks them until they rest
    late, turns = time.monotonic() + SOON_S, itertools.count(2)
    for turn in turns:
        moderator.deliver("ann", step(ask("vote", turn)))
        if moderator.hear("ann", "reply")["thought"] == thread:
            break
        assert time.monotonic() < late
    # from here on they rest between two deliveries, and a failure is of one request alone
    for turn in itertools.islice(turns, 3):
        moderator.deliver("ann", step(ask("bid", turn), ask("vote", turn)))
        bid, vote = moderator.hear("ann", "reply"), moderator.hear("ann", "reply")
        assert (bid.get("fault"), bid.get("thought")) == (("failed", None) if turn % 2 else (None, thread))
        assert vote["thought"] == thread


def test_what_an_agents_seats_answer_to_one_delivery_leaves_in_one_append(moderator, serve, redis_url, monkeypatch):
    with contextlib.closing(open_bus(redis_url)) as bus:
        kind = type(bus)
    append, appended, replied = kind.append, [], threading.Event()

    def note(self: Any, stream: str, entries: Sequence[Entry], **more: Any) -> None:
        appended.append([entry.type for entry in entries])
        if "reply" in appended[-1]:
            replied.set()
        append(self, stream, entries, **more)

    class Pausing(Hasty):
        def vote(self, ask: Ask, view: SeatView, /) -> Answer:
            # time for the writer to take what was answered before
            replied.wait(0.05)
            return super().vote(ask, view)

    monkeypatch.setattr(kind, "append", note)
    serve(Pausing)
    moderator.welcome("ann")
    ada, hugo = catch_up(ask("vote")), part(ask("vote", seat="Hugo"), private=[seated("Hugo")], seat="Hugo")
    moderator.deliver("ann", ada.model_copy(update={"seats": (*ada.seats, hugo)}))
    # seats that are new are not asked by the thread that reads
    assert {moderator.hear("ann", "reply")["seat"] for _ in range(2)} == {"Ada", "Hugo"}
    appended.clear()
    replied.clear()
    asks = part(ask("vote", 2), ask("vote", 3)), part(ask("vote", 2, seat="Hugo"), seat="Hugo")
    moderator.deliver("ann", step().model_copy(update={"seats": asks}))
    assert {moderator.hear("ann", "reply")["seat"] for _ in range(3)} == {"Ada", "Hugo"}
    assert [types for types in appended if "reply" in types] == [["reply"] * 3]


class Blocking(Agent):
    """Does not come back until it is let."""

    go: ClassVar[threading.Event] = threading.Event()

    def bid(self, ask: Ask, view: SeatView, /) -> int:
        if view.me == "Ada":
            assert self.go.wait(SOON_S)
        return 2


def test_a_seat_that_thinks_holds_up_no_other_and_is_not_asked_twice(moderator: Moderator, serve: Serve) -> None:
    Blocking.go.clear()
    serve(Blocking, seats=2)
    moderator.welcome("ann")
    slow = catch_up(ask("bid"))
    moderator.deliver("ann", slow, catch_up(ask("bid", seat="Bruno", game="g2"), seat="Bruno", game="g2"))
    assert moderator.hear("ann", "reply")["seat"] == "Bruno"
    moderator.deliver("ann", slow, step(ask("bid", 2)))
    Blocking.go.set()
    assert [moderator.hear("ann", "reply")["request"] for _ in range(2)] == [ask("bid").id, ask("bid", 2).id]
