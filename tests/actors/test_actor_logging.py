"""What a pooled actor writes to the log, and where pykka's users look for it."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from wolfbus.actors import PooledActor

WAIT = 5


class Fragile(PooledActor):
    def on_receive(self, message: Any) -> Any:
        if isinstance(message, BaseException):
            raise message
        return super().on_receive(message)


def test_a_message_nobody_handles_is_a_warning(pool, log):
    ref = Fragile.start_in(pool)
    ref.ask("stray", timeout=WAIT)
    (record,) = log.at(logging.WARNING)
    assert record.getMessage() == f"Unexpected message received by {ref}: stray"


def test_an_exception_returned_to_its_asker_is_for_information(pool, log):
    ref = Fragile.start_in(pool)
    with pytest.raises(ValueError, match="asked for"):
        ref.ask(ValueError("asked for"), timeout=WAIT)
    (record,) = log.at(logging.INFO)
    assert record.getMessage() == f"Exception returned from {ref} to caller:"
    assert record.exc_info[0] is ValueError
    assert not log.at(logging.ERROR)


def test_an_unhandled_exception_is_an_error_with_its_traceback(pool, log):
    ref = Fragile.start_in(pool)
    ref.tell(ValueError("fatal"))
    (record,) = log.wait_for(logging.ERROR)
    assert record.getMessage() == f"Unhandled exception in {ref}:"
    assert record.exc_info[0] is ValueError
    assert record.exc_info[2] is not None


@pytest.mark.parametrize("hook", ["on_start", "on_stop"])
def test_an_exception_in_a_hook_is_an_error(pool, log, hook):
    def fail(self: Any) -> None:
        raise ValueError(hook)

    ref = type("Hooked", (Fragile,), {hook: fail}).start_in(pool)
    ref.stop(block=False)
    (record,) = log.wait_for(logging.ERROR)
    assert record.getMessage() == f"Unhandled exception in {ref}:"


def test_an_exception_in_on_failure_is_an_error_beside_the_first(pool, log):
    class Unlucky(Fragile):
        def on_failure(self, *_: Any) -> None:
            raise KeyError("second")

    Unlucky.start_in(pool).tell(ValueError("first"))
    first, second = log.wait_for(logging.ERROR, entries=2)
    assert (first.exc_info[0], second.exc_info[0]) == (ValueError, KeyError)


def test_a_base_exception_is_announced_before_all_actors_stop(pool, log):
    ref = Fragile.start_in(pool)
    ref.tell(SystemExit(3))
    assert ref.actor_stopped.wait(WAIT)
    texts = [record.getMessage() for record in log.at(logging.DEBUG)]
    assert f"SystemExit(3) in {ref}. Stopping all actors." in texts


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


def test_start_and_stop_are_for_debugging(pool, log):
    ref = Fragile.start_in(pool)
    ref.stop()
    texts = [record.getMessage() for record in log.at(logging.DEBUG)]
    assert [f"Registered {ref}", f"Starting {ref}", f"Unregistered {ref}", f"Stopped {ref}"] == texts
