"""`tell_here`: an actor at rest handles a message before the teller goes on; all else is as with any message."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.waiting import PATIENCE_S
from wolfbus.actors import ActorPool, PooledActor, tell_here

WAIT = PATIENCE_S


class Listener(PooledActor):
    """Keeps what it hears, and on which thread; a callable message is called."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[tuple[Any, int]] = []

    def on_receive(self, message: Any) -> Any:
        if callable(message):
            return message()
        self.messages.append((message, threading.get_ident()))
        return list(self.messages)


def begun(pool: ActorPool) -> Any:
    ref = Listener.start_in(pool)
    ref.ask("begun")
    return ref


def test_an_actor_at_rest_handles_the_message_on_the_tellers_thread(pool):
    ref = begun(pool)
    assert tell_here(ref, "now")
    messages = ref.ask("after", timeout=WAIT)
    assert [message for message, _ in messages] == ["begun", "now", "after"]
    assert messages[1][1] == threading.get_ident() != messages[2][1]


def test_a_busy_actor_handles_it_later_and_one_at_a_time(pool):
    ref = begun(pool)
    entered, free = threading.Event(), threading.Event()
    ref.tell(lambda: (entered.set(), free.wait(WAIT)))
    assert entered.wait(WAIT)
    ref.tell("before")
    assert tell_here(ref, "later")
    free.set()
    assert [message for message, _ in ref.ask("end", timeout=WAIT)] == ["begun", "before", "later", "end"]


def test_an_actor_may_tell_itself(pool):
    ref = begun(pool)
    ref.ask(lambda: tell_here(ref, "own"), timeout=WAIT)
    assert [message for message, _ in ref.ask("end", timeout=WAIT)] == ["begun", "own", "end"]


def test_what_fails_ends_the_actor_and_not_the_teller(pool):
    ref = begun(pool)
    assert tell_here(ref, lambda: 1 / 0)
    assert ref.actor_stopped.wait(WAIT)
    assert not tell_here(ref, "too late")


def test_many_threads_wait_for_one_actor_to_stop(pool):
    ref, other = begun(pool), begun(pool)
    with ThreadPoolExecutor(3) as threads:
        waits = [threads.submit(ref.actor_stopped.wait, WAIT) for _ in range(3)]
        other.stop()
        assert not ref.actor_stopped.wait(0.05)
        ref.stop()
        assert all(wait.result(WAIT) for wait in waits)


def test_a_pool_of_one_thread_takes_one_turn_at_a_time_whoever_tells():
    busy = threading.Lock()
    overlaps: list[str] = []

    def work() -> None:
        if not busy.acquire(False):
            overlaps.append(threading.current_thread().name)
            return
        time.sleep(0)
        busy.release()

    with ActorPool(1) as pool:
        refs = [begun(pool) for _ in range(4)]
        with ThreadPoolExecutor(1) as threads:
            threads.submit(lambda: [tell_here(ref, work) for _ in range(50) for ref in refs])
            for _ in range(50):
                for ref in refs:
                    ref.tell(work)
                    tell_here(ref, work)
        for ref in refs:
            ref.ask("done", timeout=WAIT)
    assert overlaps == []


def test_who_waits_for_another_actor_on_a_tellers_thread_lends_the_only_place():
    with ActorPool(1) as pool:
        one, other = begun(pool), begun(pool)
        answers: list[Any] = []
        assert tell_here(one, lambda: answers.append(other.ask("asked", timeout=WAIT)))
        assert [message for message, _ in answers[0]] == ["begun", "asked"]
        assert [message for message, _ in one.ask("end", timeout=WAIT)] == ["begun", "end"]
