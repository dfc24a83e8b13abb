"""`Announcements`: what the house itself says, to agents and on its ``games`` stream, outside of any game's steps."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from moderator.engine.context import HouseContext
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.errors import BusDown, BusError, BusFull, Fenced

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 60.0
"""How long what is to be said is tried again while the bus is away."""


class Announcements:
    """Posts for the house, under its epoch. Safe from any thread; what is told in order lands in order.

    Args:
        context: the house; durable cursors may travel along.
        failed: called, for each stream, with why nothing could be said on it, from the writer's thread; once and with
            "" where the house is another's now.
    """

    def __init__(self, context: HouseContext, failed: Callable[[BusError, str], None] | None) -> None:
        self._context = context
        self._failed = failed
        self._lock = threading.Lock()
        self._waiting: deque[Commit] = deque()
        self._since: float | None = None

    @property
    def idle(self) -> bool:
        """Whether everything was said that could be."""
        with self._lock:
            return not self._waiting

    def post(self, posts: Sequence[tuple[str, Entry]]) -> None:
        """Post (stream, entry) pairs, together if all can be; at least once while the bus comes and goes.

        Where the bus refuses them together, each is tried alone, in order: one stream that takes nothing keeps nobody
        from hearing the rest.
        """
        commit = Commit(self._context.name, "", self._context.epoch, "", "", posts=tuple(posts))
        with self._lock:
            self._waiting.append(commit)
            busy = len(self._waiting) > 1
        if not busy:
            self._begin(commit)

    def _begin(self, commit: Commit | None) -> None:
        while commit is not None:
            try:
                self._context.cursors.send("", {}, commit, self._send, over=False)
            except BusDown as closed:
                commit = self._end(closed)
            else:
                return

    def _send(self, commit: Commit) -> None:
        self._context.writer.commit(commit, partial(self._done, commit))

    def _done(self, commit: Commit, error: BusError | None) -> None:
        if isinstance(error, BusDown | BusFull) and self._has_patience():
            try:
                # without its cursors, which would go back if it came to stand behind younger ones
                self._send(replace(commit, cursors=None))
            except BusDown as closed:
                error = closed
            else:
                return
        self._begin(self._end(error))

    def _has_patience(self) -> bool:
        now = self._context.clock()
        self._since = self._since or now
        return now - self._since < PATIENCE_S

    def _end(self, error: BusError | None) -> Commit | None:
        """Be done with the oldest of what waits; returns the next."""
        with self._lock:
            self._since = None
            commit = self._waiting.popleft()
            if error is not None and not isinstance(error, Fenced | BusDown) and len(commit.posts) > 1:
                # nothing of it was written; whatever came meanwhile stays behind it
                self._waiting.extendleft(replace(commit, posts=(post,)) for post in reversed(commit.posts))
                error = None
            following = self._waiting[0] if self._waiting else None
        if error is not None:
            self._give_up(commit, error)
        return following

    def _give_up(self, commit: Commit, error: BusError) -> None:
        # a moderator that was fenced off has nothing more to say, and steps down anyhow
        fenced = isinstance(error, Fenced)
        told = fenced or self._failed is not None
        logger.log(logging.DEBUG if told else logging.WARNING, "house %s: %s", self._context.name, error)
        if self._failed is not None:
            for stream in [""] if fenced else dict.fromkeys(stream for stream, _ in commit.posts):
                self._failed(error, stream)
