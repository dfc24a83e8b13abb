"""From start to stop: what an actor may rely on."""

import threading
import weakref
from typing import Any

import pytest
from pykka import ActorDeadError, Timeout

from tests.waiting import PATIENCE_S
from wolfbus.actors import PooledActor

WAIT = PATIENCE_S


class Diarist(PooledActor):
    """Writes down what happens to it, in order; a callable message is called, and so can hold the actor up."""

    def __init__(self, diary: list[Any] | None = None, ended: threading.Event | None = None) -> None:
        super().__init__()
        self.diary: list[Any] = [] if diary is None else diary
        self.ended = ended or threading.Event()

    def on_start(self) -> None:
        self.diary.append("start")

    def on_receive(self, message: Any) -> Any:
        if callable(message):
            return message()
        self.diary.append(message)
        return message

    def on_stop(self) -> None:
        self.diary.append("stop")
        self.ended.set()

    def on_failure(self, *_: Any) -> None:
        self.diary.append("failure")


def test_on_start_comes_before_the_first_message_and_on_stop_after_the_last(start):
    diary = []
    ref = start(Diarist, diary)
    for message in (1, 2, 3):
        ref.tell(message)
    assert ref.stop() is True
    assert diary == ["start", 1, 2, 3, "stop"]


def test_what_an_actor_tells_itself_in_its_constructor_arrives_after_on_start(start):
    class Early(Diarist):
        def __init__(self, diary: list[Any]) -> None:
            super().__init__(diary)
            self.actor_ref.tell("told in the constructor")

    diary = []
    ref = start(Early, diary)
    ref.stop()
    assert diary == ["start", "told in the constructor", "stop"]


def test_an_answer_may_come_after_its_asker_gave_up(start):
    gate = threading.Event()
    ref = start(Diarist)
    ref.tell(gate.wait)
    future = ref.ask("slow", block=False)
    with pytest.raises(Timeout):
        future.get(timeout=0)
    with pytest.raises(Timeout):
        ref.ask("slower", timeout=0.001)
    gate.set()
    assert future.get(timeout=WAIT) == "slow"


def test_a_dead_actor_is_told_and_asked_nothing(start):
    ref = start(Diarist)
    assert ref.is_alive()
    assert ref.stop() is True
    assert not ref.is_alive()
    assert ref.stop() is False
    with pytest.raises(ActorDeadError, match="not found"):
        ref.tell("hello")
    with pytest.raises(ActorDeadError, match="not found"):
        ref.ask("hello")
    future = ref.ask("hello", block=False)
    with pytest.raises(ActorDeadError, match="not found"):
        future.get()


def test_questions_behind_a_stop_are_answered_with_actor_dead(start):
    gate = threading.Event()
    ref = start(Diarist)
    ref.tell(gate.wait)
    stopping = ref.stop(block=False)
    too_late = [ref.ask(n, block=False) for n in range(50)]
    gate.set()
    assert stopping.get(timeout=WAIT) is True
    for future in too_late:
        with pytest.raises(ActorDeadError, match="stopped before handling the message"):
            future.get(timeout=WAIT)


def test_an_actor_may_stop_itself_any_number_of_times_and_still_handles_what_came_before(start):
    class Leaver(Diarist):
        def on_start(self) -> None:
            self.actor_ref.tell("from myself")
            self.stop()
            self.stop()

    diary, ended = [], threading.Event()
    start(Leaver, diary, ended)
    assert ended.wait(WAIT)
    assert diary == ["from myself", "stop"]


def test_a_dead_actor_is_let_go_though_its_reference_is_kept_and_its_thread_rests(one_thread):
    class Mortal(Diarist):
        def on_start(self) -> None:
            weakref.finalize(self, collected.set)

    keeper_of_the_thread = PooledActor.start_in(one_thread)
    collected = threading.Event()
    ref = Mortal.start_in(one_thread)
    ref.ask("settled", timeout=WAIT)
    ref.stop()
    assert collected.wait(WAIT)
    assert not ref.is_alive()
    assert one_thread.actors() == [keeper_of_the_thread]
