"""Futures: set once, awaited anywhere, and stood in for on a pool's own threads."""

from __future__ import annotations

import asyncio
import queue
import threading
from typing import Any

import pytest
from pykka import Timeout, get_all

from wolfbus.actors import ActorPool, PooledActor, PooledFuture

WAIT = 5


class Caller(PooledActor):
    """Calls what it is sent."""

    def on_receive(self, message: Any) -> Any:
        return message()


@pytest.fixture
def future() -> PooledFuture[Any]:
    return PooledFuture()


def test_a_future_gives_its_value_any_number_of_times(future):
    future.set(7)
    assert [future.get(), future.get(timeout=0)] == [7, 7]


def test_a_future_is_set_once(future):
    future.set(7)
    with pytest.raises(queue.Full):
        future.set(8)
    with pytest.raises(queue.Full):
        future.set_exception((ValueError, ValueError(), None))
    assert future.get() == 7


def test_a_future_raises_the_very_exception_with_its_traceback(future):
    error = ValueError("kept")
    try:
        raise error
    except ValueError:
        future.set_exception()
    with pytest.raises(ValueError, match="kept") as raised:
        future.get()
    assert raised.value is error
    assert "raise error" in str(raised.traceback[-1].statement)


def test_a_future_nobody_sets_times_out(future):
    with pytest.raises(Timeout):
        future.get(timeout=0)


def test_a_waiting_get_is_woken_by_set(future):
    answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
    waiting = threading.Thread(target=lambda: answers.put(future.get(timeout=WAIT)))
    waiting.start()
    future.set("woken")
    assert answers.get(timeout=WAIT) == "woken"
    waiting.join(WAIT)


def test_futures_can_be_awaited(future):
    async def answer() -> Any:
        return await future

    future.set("awaited")
    assert asyncio.run(answer()) == "awaited"


def test_get_all_keeps_the_order_of_its_futures():
    futures = [PooledFuture() for _ in range(3)]
    for n, future in reversed(list(enumerate(futures))):
        future.set(n)
    assert get_all(futures) == [0, 1, 2]


def test_get_all_times_out_if_one_is_missing(future):
    done = PooledFuture()
    done.set(1)
    with pytest.raises(Timeout):
        get_all([done, future], timeout=0)


def test_map_filter_reduce_and_join_make_futures_of_the_same_kind(future):
    other = PooledFuture()
    derived = {
        "map": (future.map(len), 3),
        "filter": (future.filter(lambda n: n > 1), [2, 3]),
        "reduce": (future.reduce(lambda a, b: a + b, 10), 16),
        "join": (future.join(other), [[1, 2, 3], "other"]),
    }
    future.set([1, 2, 3])
    other.set("other")
    for made, expected in derived.values():
        assert isinstance(made, PooledFuture)
        assert made.get(timeout=0) == expected


def test_a_hook_is_called_once_and_excludes_a_value(future):
    calls = []
    future.set_get_hook(calls.append)
    assert future.get(timeout=3) is None
    assert future.get(timeout=4) is None
    assert calls == [3]
    with pytest.raises(queue.Full):
        future.set(1)


def test_an_actor_that_waits_for_another_does_not_stop_a_pool_of_one_thread(one_thread):
    answering = Caller.start_in(one_thread)
    asking = Caller.start_in(one_thread)
    assert asking.ask(lambda: answering.ask(lambda: "answered", timeout=WAIT), timeout=WAIT) == "answered"


def test_actors_may_wait_for_each_other_twenty_deep_and_the_spare_threads_go_again(one_thread):
    refs = [Caller.start_in(one_thread) for _ in range(20)]

    def go_deeper(depth: int) -> int:
        return 1 if depth == len(refs) else 1 + refs[depth].ask(lambda: go_deeper(depth + 1), timeout=WAIT)

    assert go_deeper(0) == 21
    assert one_thread._staff == 1


def test_a_wait_that_times_out_gives_its_place_back(one_thread):
    never: PooledFuture[Any] = PooledFuture()

    def wait_in_vain() -> str:
        with pytest.raises(Timeout):
            never.get(timeout=0.001)
        return "gave up"

    ref = Caller.start_in(one_thread)
    assert ref.ask(wait_in_vain, timeout=WAIT) == "gave up"
    assert one_thread._staff == 1


def test_an_answer_that_is_there_needs_no_spare_thread(one_thread):
    ready: PooledFuture[str] = PooledFuture()
    ready.set("ready")
    before = next(one_thread._numbers)
    ref = Caller.start_in(one_thread)
    assert ref.ask(ready.get, timeout=WAIT) == "ready"
    assert next(one_thread._numbers) == before + 2  # the one thread of the pool came between


def test_a_blocking_stop_by_another_actor_does_not_stop_a_pool_of_one_thread(one_thread):
    victim = Caller.start_in(one_thread)
    assert Caller.start_in(one_thread).ask(lambda: victim.stop(timeout=WAIT), timeout=WAIT) is True


def test_a_handler_may_lend_its_place_while_it_waits_by_other_means(one_thread):
    word = threading.Event()

    def wait_for_the_word() -> bool:
        with one_thread.blocking():
            return word.wait(WAIT)

    answer = Caller.start_in(one_thread).ask(wait_for_the_word, block=False)
    Caller.start_in(one_thread).tell(word.set)
    assert answer.get(timeout=WAIT) is True


def test_actors_of_two_pools_may_wait_for_each_other(one_thread):
    with ActorPool(threads=1, name="other") as other:
        here, there = Caller.start_in(one_thread), Caller.start_in(other)

        def ask_back() -> str:
            return Caller.start_in(one_thread).ask(lambda: "from the first pool", timeout=WAIT)

        assert here.ask(lambda: there.ask(ask_back, timeout=WAIT), timeout=WAIT) == "from the first pool"
