"""pykka's registry knows pooled actors like any others."""

from __future__ import annotations

import threading
from typing import Any

from pykka import Actor, ActorRegistry, ThreadingActor

from wolfbus.actors import PooledActor

WAIT = 5


class Listener(Actor):
    def __init__(self, stopped: list[Any] | None = None) -> None:
        super().__init__()
        self.heard: list[Any] = []
        self.stopped = [] if stopped is None else stopped

    def on_receive(self, message: Any) -> None:
        self.heard.append(message)

    def on_stop(self) -> None:
        self.stopped.append(self.actor_ref)


class Gossip(Listener):
    pass


def test_an_actor_is_registered_while_it_lives(start):
    ref = start(Listener)
    assert ActorRegistry.get_all() == [ref]
    assert ActorRegistry.get_by_urn(ref.actor_urn) is ref
    ref.stop()
    assert ActorRegistry.get_all() == []
    assert ActorRegistry.get_by_urn(ref.actor_urn) is None


def test_actors_are_found_by_class_superclass_and_class_name(start):
    listener, gossip = start(Listener), start(Gossip)
    assert ActorRegistry.get_by_class(Listener) == [listener, gossip]
    assert ActorRegistry.get_by_class(Gossip) == [gossip]
    assert ActorRegistry.get_by_class_name("Listener") == [listener]


def test_stop_all_stops_the_last_started_first(start):
    stopped = []
    refs = [start(Listener, stopped) for _ in range(8)]
    assert ActorRegistry.stop_all(timeout=WAIT) == [True] * 8
    assert stopped == refs[::-1]


def test_stop_all_without_blocking_gives_a_future_each(start):
    refs = [start(Listener) for _ in range(8)]
    assert [future.get(timeout=WAIT) for future in ActorRegistry.stop_all(block=False)] == [True] * 8
    assert not any(ref.is_alive() for ref in refs)


def test_a_broadcast_reaches_all_or_one_class(start):
    listener, gossip = start(Listener), start(Gossip)
    ActorRegistry.broadcast("to all")
    ActorRegistry.broadcast("to gossips", target_class=Gossip)
    ActorRegistry.broadcast("by name", target_class="Listener")
    assert listener.proxy().heard.get(timeout=WAIT) == ["to all", "by name"]
    assert gossip.proxy().heard.get(timeout=WAIT) == ["to all", "to gossips"]


def test_pooled_actors_and_actors_with_threads_live_side_by_side(pool):
    class WithThread(Listener, ThreadingActor):
        pass

    class Pooled(Listener, PooledActor):
        pass

    here, there = Pooled.start_in(pool), WithThread.start()
    done = threading.Event()

    class Reader(PooledActor):
        def on_receive(self, refs: Any) -> None:
            assert [ref.proxy().heard.get(timeout=WAIT) for ref in refs] == [["hello"], ["hello"]]
            done.set()

    ActorRegistry.broadcast("hello")
    Reader.start_in(pool).tell((here, there))
    assert done.wait(WAIT)
    assert ActorRegistry.stop_all(timeout=WAIT) == [True] * 3
