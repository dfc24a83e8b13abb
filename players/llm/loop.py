"""`Loop`: the one event loop that all model calls of a process run on, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from typing import Any, Final, TypeAlias, TypeVar

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_CLOSING_S: Final = 5.0


def loop_time() -> float:
    """Return the running loop's time in seconds: monotonic time, but for tests with a clock of their own."""
    return asyncio.get_running_loop().time()


def format_seconds(seconds: float) -> str:
    """Return a time as it is shown to people."""
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


Job: TypeAlias = "Future[None]"
"""A coroutine on the loop, to be looked at and cancelled from any thread."""


class Loop:
    """An event loop in a daemon thread that starts with the first job and ends with `close`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._last: Coroutine[Any, Any, None] | None = None

    def start(self, coroutines: Sequence[Coroutine[Any, Any, None]]) -> list[Job]:
        """Begin some coroutines, in order; on a closed loop, drop them."""
        jobs = []
        for coroutine in coroutines:
            # it may be closed since a moment ago
            with contextlib.suppress(RuntimeError):
                job = self._submit(coroutine)
                job.add_done_callback(log_failure)
                jobs.append(job)
        return jobs

    def run(self, coroutine: Coroutine[Any, Any, _T]) -> _T:
        """Run a coroutine and wait for it; not from the loop's own thread.

        Raises:
            RuntimeError: the loop is closed.
            concurrent.futures.CancelledError: it was closed meanwhile.
        """
        future = self._submit(coroutine)
        try:
            return future.result()
        except BaseException:
            # such as a key press
            future.cancel()
            raise

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel all jobs, run a last coroutine, and end the thread. A second time, and without a job, nothing runs.

        From the loop's own thread it returns at once, and the end comes when the caller is through.
        """
        with self._lock:
            loop, thread = self._loop, self._thread
            closed, self._closed = self._closed, True
        if closed or loop is None or thread is None:
            last.close()
            return
        self._last = last
        loop.call_soon_threadsafe(loop.stop)
        if thread is not threading.current_thread():
            thread.join(2 * _CLOSING_S)
            if thread.is_alive():
                logger.warning("the thread of model calls does not end")

    def _submit(self, coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
        try:
            return asyncio.run_coroutine_threadsafe(coroutine, self._running())
        except RuntimeError:
            coroutine.close()
            raise

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise RuntimeError("the loop of model calls is closed")
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._serve, args=(self._loop,), name=self._name, daemon=True)
                self._thread.start()
            return self._loop

    def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            loop.run_until_complete(self._end())
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            # it leaves alone the threads that look up host names, which may take half a minute over it
            loop.close()

    async def _end(self) -> None:
        await _cancel_all()
        try:
            async with asyncio.timeout(_CLOSING_S):
                if self._last is not None:
                    await self._last
        except Exception:
            logger.exception("closing the connections to models failed")


def log_failure(job: Future[Any]) -> None:
    """Log what a job failed of; nobody else sees it."""
    if not job.cancelled() and (error := job.exception()) is not None:
        logger.error("a job of model calls failed", exc_info=error)


async def _cancel_all() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_CLOSING_S)
