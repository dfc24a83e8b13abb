"""tell and ask."""

from __future__ import annotations

import queue
import threading
from typing import Any

import pytest
from pykka import Actor, ActorDeadError, Timeout, messages

WAIT = 5


class Echo(Actor):
    """Answers with what it was asked, and hands on what it was told."""

    def __init__(self, heard: queue.SimpleQueue[Any] | None = None) -> None:
        super().__init__()
        self.heard: queue.SimpleQueue[Any] = queue.SimpleQueue() if heard is None else heard

    def on_receive(self, message: Any) -> Any:
        if isinstance(message, threading.Event):
            return message.wait(WAIT)
        self.heard.put(message)
        return message

    def double(self, number: int) -> int:
        return 2 * number


def test_a_reference_prints_class_and_urn(start):
    ref = start(Echo)
    assert repr(ref) == f"<ActorRef for Echo ({ref.actor_urn})>"


@pytest.mark.parametrize(
    "message", [None, 0, 1.5, "text", b"bytes", (1,), [1], {"k": 1}, ValueError("a value")], ids=repr
)
def test_anything_can_be_a_message(start, message):
    heard = queue.SimpleQueue()
    ref = start(Echo, heard)
    ref.tell(message)
    assert heard.get(timeout=WAIT) is message
    assert ref.ask(message, timeout=WAIT) is message


def test_telling_a_dead_actor_raises_at_once(start):
    ref = start(Echo)
    ref.stop()
    with pytest.raises(ActorDeadError) as error:
        ref.tell("hello")
    assert str(error.value) == f"{ref} not found"


def test_asking_a_dead_actor_raises_from_the_future(start):
    ref = start(Echo)
    ref.stop()
    with pytest.raises(ActorDeadError, match="not found"):
        ref.ask("hello")
    future = ref.ask("hello", block=False)
    with pytest.raises(ActorDeadError, match="not found"):
        future.get()


def test_ask_gives_up_after_its_timeout_and_the_answer_comes_all_the_same(start):
    gate = threading.Event()
    ref = start(Echo)
    ref.tell(gate)
    future = ref.ask("slow", block=False)
    with pytest.raises(Timeout):
        future.get(timeout=0)
    with pytest.raises(Timeout):
        ref.ask("slower", timeout=0.001)
    gate.set()
    assert future.get(timeout=WAIT) == "slow"


def test_ask_without_blocking_gives_a_future(start):
    futures = [start(Echo).ask(n, block=False) for n in range(10)]
    assert [future.get(timeout=WAIT) for future in futures] == list(range(10))


def test_a_method_can_be_called_by_message_without_a_proxy(start):
    ref = start(Echo)
    assert ref.ask(messages.ProxyCall(attr_path=("double",), args=(21,), kwargs={}), timeout=WAIT) == 42
    assert ref.ask(messages.ProxySetAttr(attr_path=("colour",), value="grey"), timeout=WAIT) is None
    assert ref.ask(messages.ProxyGetAttr(attr_path=("colour",)), timeout=WAIT) == "grey"


def test_a_reference_can_be_sent_to_another_actor(start):
    class Relay(Actor):
        def on_receive(self, message: Any) -> None:
            ref, text = message
            ref.tell(text)

    heard = queue.SimpleQueue()
    start(Relay).tell((start(Echo, heard), "passed on"))
    assert heard.get(timeout=WAIT) == "passed on"
