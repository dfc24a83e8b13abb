"""The future a pooled actor answers with."""

from __future__ import annotations

from typing import Any, TypeVar

from pykka import ThreadingFuture

from wolfbus.actors.pool import pool_of_this_thread

T = TypeVar("T")


class PooledFuture(ThreadingFuture[T]):
    """pykka's `ThreadingFuture`, except that a pool's thread that waits in `get` is stood in for.

    Without that, as many actors as the pool has threads could all wait for an actor that no thread is left to run.
    """

    def get(self, *, timeout: float | None = None) -> Any:
        """Return the value, or raise the exception, that was set.

        Args:
            timeout: seconds to wait; None waits for ever, 0 does not wait.

        Raises:
            pykka.Timeout: if nothing was set in that time.
        """
        pool = pool_of_this_thread()
        # A hook does its waiting in the futures it asks, which see to themselves.
        if pool is None or self._result is not None or self._get_hook is not None:
            return super().get(timeout=timeout)
        with pool.blocking():
            return super().get(timeout=timeout)
