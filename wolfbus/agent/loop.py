"""The event loop on which the coroutines of all agents of this process run."""

from __future__ import annotations

import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import CancelledError, Future
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import asyncio

_Outcome: TypeAlias = tuple[object, BaseException | None]

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None

Done = Callable[[object, BaseException | None], object]
"""Called with what came of an awaitable: its result, or what it raised."""


def await_later(awaitable: Awaitable[object], done: Done) -> Future[Any]:
    """Await something on the agents' loop, which starts with the first call; return at once.

    Args:
        awaitable: what to wait for, such as a coroutine.
        done: called once, from the loop's thread; cancelling counts as raising.

    Returns:
        What cancels it.
    """
    import asyncio  # five megabytes that most games do without

    future = asyncio.run_coroutine_threadsafe(_outcome(awaitable), _running())
    future.add_done_callback(lambda ended: done(*_of(ended)))
    return future


async def _outcome(awaitable: Awaitable[object]) -> _Outcome:
    import asyncio

    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - an agent may fail in any way, and must not end the loop
        return None, error


def _of(ended: Future[_Outcome]) -> _Outcome:
    return (None, CancelledError()) if ended.cancelled() else ended.result()


def _running() -> asyncio.AbstractEventLoop:
    global _loop  # noqa: PLW0603 - one per process is what it is for
    with _lock:
        if _loop is None:
            import asyncio

            _loop = asyncio.new_event_loop()
            # a daemon: an agent that never comes back must not keep the process
            threading.Thread(target=_loop.run_forever, name="agent-loop", daemon=True).start()
        return _loop
