"""The inbox by itself: one turn at most, no mail forgotten, latecomers turned away."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest
from pykka import ActorDeadError
from pykka._envelope import Envelope

from wolfbus.actors import ActorPool, PooledActor, PooledFuture
from wolfbus.actors.actor import Inbox, TurnOver

WAIT = 5
Turn = Callable[[], None]


def first() -> None:
    raise AssertionError("never run here")


def later() -> None:
    raise AssertionError("never run here")


@pytest.fixture
def turns() -> list[Turn]:
    return []


@pytest.fixture
def inbox(turns) -> Inbox:
    inbox = Inbox()
    inbox.put(Envelope("early"))
    inbox.open(cast("ActorPool", SimpleNamespace(enqueue=turns.append, take=turns.append)), first, later)
    return inbox


def test_a_new_inbox_gathers_mail_and_runs_nothing_until_it_is_opened(inbox, turns):
    assert turns == [first]
    assert not inbox.empty()


def test_mail_queues_no_second_turn_while_one_is_queued_or_running(inbox, turns):
    inbox.put(Envelope(1))
    inbox.put(Envelope(2))
    assert turns == [first]


def test_a_turn_that_ends_with_mail_left_goes_to_the_back_of_the_queue(inbox, turns):
    inbox.end_turn()
    assert turns == [first, later]


def test_a_turn_that_ends_without_mail_rests_until_the_next_message(inbox, turns):
    inbox.share(1)
    assert inbox.get().message == "early"
    inbox.end_turn()
    assert turns == [first]
    inbox.put(Envelope("next"))
    inbox.put(Envelope("and next"))
    assert turns == [first, later]


def test_a_turn_gets_its_share_in_order_and_no_more(inbox):
    inbox.put(Envelope(1))
    inbox.put(Envelope(2))
    inbox.share(2)
    assert [inbox.get().message, inbox.get().message] == ["early", 1]
    with pytest.raises(TurnOver):
        inbox.get()
    inbox.share(sys.maxsize)
    assert inbox.get().message == 2
    with pytest.raises(TurnOver):
        inbox.get()
    assert inbox.empty()


def test_a_closed_inbox_turns_away_what_is_left_and_what_comes(inbox, turns):
    left, late = PooledFuture(), PooledFuture()
    inbox.put(Envelope("left", reply_to=left))
    inbox.close("Raj (urn:x)")
    inbox.put(Envelope("told"))
    inbox.put(Envelope("late", reply_to=late))
    for future in (left, late):
        with pytest.raises(ActorDeadError, match=r"Raj \(urn:x\) not found"):
            future.get(timeout=0)
    assert inbox.empty()
    assert turns == [first]


class Interloper:
    """An inbox's lock, just before whose release somebody puts mail: the moment at which mail is easiest to forget."""

    def __init__(self, inbox: Inbox, mail: Envelope[str]) -> None:
        self.lock, inbox._taken = inbox._taken, self
        self.inbox, self.mail = inbox, [mail]

    def acquire(self, blocking: bool) -> bool:
        return self.lock.acquire(blocking)

    def release(self) -> None:
        while self.mail:
            self.inbox.put(self.mail.pop())
        self.lock.release()


def test_mail_that_comes_just_before_the_turn_is_over_queues_another(inbox, turns):
    inbox.share(1)
    inbox.get()
    Interloper(inbox, Envelope("just in time"))
    inbox.end_turn()
    assert turns == [first, later]


def test_mail_that_comes_just_before_the_inbox_has_closed_is_turned_away(inbox):
    question = PooledFuture()
    Interloper(inbox, Envelope("just too late", reply_to=question))
    inbox.close("Raj (urn:x)")
    with pytest.raises(ActorDeadError):
        question.get(timeout=0)
    assert inbox.empty()


@pytest.mark.usefixtures("hasty_switches")
def test_no_question_stays_unanswered_however_close_it_comes_to_the_actors_death():
    with ActorPool(threads=2) as pool:
        for _ in range(40):
            ref = PooledActor.start_in(pool)
            ready = threading.Barrier(3)
            asked: list[PooledFuture[None]] = []

            def ask(ref=ref, ready=ready, asked=asked) -> None:
                ready.wait(WAIT)
                while ref.is_alive():
                    asked.append(ref.ask(PooledFuture, block=False))

            askers = [threading.Thread(target=ask) for _ in range(2)]
            for asker in askers:
                asker.start()
            ready.wait(WAIT)
            ref.stop(block=False)
            for asker in askers:
                asker.join(WAIT)
            for future in asked:
                try:
                    future.get(timeout=WAIT)
                except ActorDeadError:
                    continue
