"""What a handler may raise, who hears of it, and that no thread of a pool dies of it."""

import logging
import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import pytest
from pykka import ActorDeadError, ActorRegistry, Future

from tests.waiting import PATIENCE_S
from wolfbus.actors import ActorPool, PooledActor

WAIT = PATIENCE_S


class Fragile(PooledActor):
    """Raises what it is sent; calls what it can call."""

    def __init__(self, hooks: list[str] | None = None, failures: queue.SimpleQueue[Any] | None = None) -> None:
        super().__init__()
        self.hooks = [] if hooks is None else hooks
        self.failures: queue.SimpleQueue[Any] = queue.SimpleQueue() if failures is None else failures

    def on_receive(self, message: Any) -> Any:
        if isinstance(message, BaseException):
            raise message
        return message() if callable(message) else message

    def on_stop(self) -> None:
        self.hooks.append("stop")

    def on_failure(self, *exc_info: Any) -> None:
        self.hooks.append("failure")
        self.failures.put(exc_info)


def test_an_exception_under_tell_ends_the_actor_by_on_failure_and_not_on_stop(start):
    hooks, failures = [], queue.SimpleQueue()
    ref = start(Fragile, hooks, failures)
    ref.tell(ValueError("under tell"))
    exception_type, exception, traceback = failures.get(timeout=WAIT)
    assert exception_type is ValueError
    assert str(exception) == "under tell"
    assert traceback is not None
    assert hooks == ["failure"]
    assert not ref.is_alive()
    assert ActorRegistry.get_by_urn(ref.actor_urn) is None


def test_an_exception_under_ask_goes_to_the_asker_and_the_actor_lives_on(start):
    hooks = []
    ref = start(Fragile, hooks)
    with pytest.raises(ValueError, match="under ask"):
        ref.ask(ValueError("under ask"), timeout=WAIT)
    assert ref.ask("still here", timeout=WAIT) == "still here"
    assert hooks == []


def test_mail_behind_a_fatal_message_is_answered_with_actor_dead(start):
    gate = threading.Event()
    ref = start(Fragile)
    ref.tell(gate.wait)
    ref.tell(ValueError("fatal"))
    questions = [ref.ask(n, block=False) for n in range(50)]
    stopping = ref.stop(block=False)
    gate.set()
    for question in questions:
        with pytest.raises(ActorDeadError):
            question.get(timeout=WAIT)
    assert stopping.get(timeout=WAIT) is True


@pytest.mark.parametrize("hook", ["on_start", "on_stop", "on_failure"])
def test_an_exception_in_a_hook_ends_the_actor(start, hook):
    reached = threading.Event()

    def raise_it(*_: Any) -> NoReturn:
        reached.set()
        raise ValueError(hook)

    ref = start(type("Hooked", (Fragile,), {hook: raise_it}))
    if hook == "on_failure":
        ref.tell(ValueError("leads to on_failure"))
    if hook == "on_stop":
        assert ref.stop(timeout=WAIT) is True
    assert reached.wait(WAIT)
    assert ref.actor_stopped.wait(WAIT)
    with pytest.raises(ActorDeadError):
        ref.ask("anybody there?", timeout=WAIT)


@pytest.mark.parametrize("exception", [SystemExit(1), KeyboardInterrupt(), GeneratorExit()], ids=repr)
def test_a_base_exception_in_a_handler_stops_all_actors(start, exception):
    hooks = []
    refs = [start(Fragile, hooks) for _ in range(5)]
    refs[2].tell(exception)
    for ref in refs:
        assert ref.actor_stopped.wait(WAIT)
        assert ref.stop(timeout=WAIT) is False
    assert ActorRegistry.get_all() == []
    assert hooks.count("failure") == 0


@pytest.mark.parametrize("hook", ["on_start", "on_stop", "on_failure"])
def test_what_escapes_pykkas_loop_ends_the_actor_and_not_the_thread(pool, hook):
    def escape(*_: Any) -> NoReturn:
        raise SystemExit(hook)

    bystander = Fragile.start_in(pool)
    threads = pool_threads(pool)
    victim = type("Victim", (Fragile,), {hook: escape}).start_in(pool)
    if hook == "on_stop":
        victim.stop(block=False)
    elif hook == "on_failure":
        victim.tell(ValueError("leads to it"))
    assert victim.actor_stopped.wait(WAIT)
    with pytest.raises(ActorDeadError):
        victim.ask("anybody there?", timeout=WAIT)
    assert bystander.ask("fine", timeout=WAIT) == "fine"
    assert ActorRegistry.get_all() == [bystander]
    assert pool_threads(pool) == threads


def test_an_answer_that_somebody_else_gave_ends_the_actor_and_not_the_thread(one_thread):
    gate = threading.Event()
    victim, bystander = Fragile.start_in(one_thread), Fragile.start_in(one_thread)
    threads = pool_threads(one_thread)
    victim.tell(gate.wait)
    stolen = victim.ask("question", block=False)
    behind = victim.ask("another", block=False)
    stolen.set("not the actor's answer")
    gate.set()
    with pytest.raises(ActorDeadError):
        behind.get(timeout=WAIT)
    assert bystander.ask("fine", timeout=WAIT) == "fine"
    assert not victim.is_alive()
    assert pool_threads(one_thread) == threads


def test_what_escapes_the_loop_is_an_error_of_its_actor(pool, log):
    class Quitter(Fragile):
        def on_start(self) -> None:
            raise SystemExit(4)

    ref = Quitter.start_in(pool)
    (record,) = log.wait_for(logging.ERROR)
    assert record.getMessage() == f"Unhandled exception in {ref}:"
    assert record.exc_info[0] is SystemExit


def test_an_actor_that_cannot_even_be_named_is_a_critical_entry_of_the_pool(pool, log):
    class Nameless(Fragile):
        def on_start(self) -> None:
            type(self).__str__ = lambda self: 1 / 0

    ref = Nameless.start_in(pool)
    ref.tell(ValueError("fatal"))
    (record,) = log.wait_for(logging.CRITICAL)
    assert record.exc_info[0] is ZeroDivisionError
    assert ref.actor_stopped.wait(WAIT)
    with pytest.raises(ActorDeadError):
        ref.ask("anybody there?", timeout=WAIT)


@pytest.mark.usefixtures("hasty_switches")
def test_no_question_stays_unanswered_however_close_it_comes_to_the_actors_death():
    with ActorPool(threads=2) as pool:
        for _ in range(15):
            ref = PooledActor.start_in(pool)
            ready = threading.Barrier(3)
            futures: list[Future[None]] = []

            def ask(ref=ref, ready=ready, futures=futures) -> None:
                ready.wait(WAIT)
                while ref.is_alive():
                    futures.append(ref.ask(None, block=False))

            with ThreadPoolExecutor(2) as threads:
                for _ in range(2):
                    threads.submit(ask)
                ready.wait(WAIT)
                ref.stop(block=False)
            for future in futures:
                try:
                    future.get(timeout=WAIT)
                except ActorDeadError:
                    continue


def pool_threads(pool: ActorPool) -> set[int | None]:
    return {thread.ident for thread in threading.enumerate() if thread.name.startswith(pool.name)}
