"""`WatchedGame`: a game that any number of viewers look at; it is read and folded once, however many they are.

`Changing` is what viewers wait for; `LoopCalls` brings what other threads tell to the loop that viewers are served on.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from wolfbus.errors import ConfigError
from wolfbus.messages.base import SeatName
from wolfbus.messages.requests import TableNews
from wolfbus.record.line import Recorded
from wolfbus.stage.document import GameFeed, all_viewers, proof, seats_of
from wolfbus.stage.logs import ShownLog
from wolfbus.stage.viewers import PUBLIC, TableOpened, Viewer, viewer_named

_CACHED: Final = 64
"""Steps kept encoded: viewers that are up to date all get the same one."""


class Changing:
    """Something that changes on an event loop, and for whose changes any number may wait there."""

    def __init__(self) -> None:
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Wake all who wait for a change."""
        self._changed.set()
        self._changed = asyncio.Event()

    async def change(self, timeout_s: float) -> bool:
        """Wait until something is new; False if nothing was in that time."""
        try:
            await asyncio.wait_for(self._changed.wait(), timeout_s)
        except TimeoutError:
            return False
        return True


class LoopCalls:
    """Has things done on an event loop, from any thread and in order; before there is a loop they wait for one."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: list[Callable[[], object]] = []

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Use this loop from now on; called on it."""
        self._loop = loop
        waiting, self._waiting = self._waiting, []
        for call in waiting:
            call()

    def soon(self, call: Callable[[], object]) -> None:
        """Do something on the loop."""
        if self._loop is None:
            self._waiting.append(call)
            return
        # a loop that has ended shows nothing any more
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)


class WatchedGame(Changing):
    """A game that any number of viewers look at. To be used on one event loop.

    Args:
        game: its id.
        public: whether only what is public may be seen before its end.

    Attributes:
        game: its id.
        records: the lines of its record, as far as they are there; empty where only the table's news are known.
        problem: what is wrong with the line after them.
        log: the log of another table that it is; None of a record.
        stalled: why nothing comes for now; None while it goes on.
        closed: whether nothing more will come.
        watching: how many wait for what is new.
    """

    def __init__(self, game: str, *, public: bool = False) -> None:
        super().__init__()
        self.game = game
        self.records: list[Recorded] = []
        self.problem: str | None = None
        self.log: ShownLog | None = None
        self.stalled: str | None = None
        self.closed = False
        self.watching = 0
        self._public = public
        self._feeds: dict[Viewer, GameFeed] = {}
        self._steps: dict[tuple[Viewer, int], bytes] = {}

    @property
    def empty(self) -> bool:
        """Whether nothing is known of it yet."""
        return not self.records and not self._feeds

    @property
    def over(self) -> bool:
        """Whether the record has its last line; a log of another table is as long as it will be."""
        return self._ends_with("ended", "stopped")

    @property
    def names(self) -> tuple[SeatName, ...]:
        """All players in seating order; () where that is not known."""
        return seats_of(self.records)

    @property
    def shielded(self) -> bool:
        """Whether only what is public may be seen now; for good where a game was broken off: a study deals it again."""
        return not self.records or (self._public and not self._ends_with("ended"))

    def _ends_with(self, *types: str) -> bool:
        return self.log is not None or (bool(self.records) and self.records[-1].event.type in types)

    def viewers(self) -> tuple[Viewer, ...]:
        """Return whose views a visitor may have now; the first is shown unless another is asked for."""
        return (PUBLIC,) if self.shielded else all_viewers(self.names)

    def viewer(self, word: str) -> Viewer:
        """Return the viewer that a visitor asks for, the first of `viewers` for "".

        Raises:
            ConfigError: there is none of that name, or it is not to be seen now.
        """
        if not word:
            return self.viewers()[0]
        if self.shielded and word != PUBLIC:
            raise ConfigError(f"only what is public can be seen {'before this game ends' if self.records else 'here'}")
        return viewer_named(word, self.names, "the link's as=")

    def refusal(self, thing: str) -> str:
        """Return why something is not to be had of a game that is shielded."""
        return f"{thing} can be had {'after the game' if self.records else 'only where its record is read'}"

    def feed(self, viewer: Viewer) -> GameFeed:
        """Return what `viewer` is shown, up to date."""
        feed = self._feeds.get(viewer)
        if feed is None:
            feed = self._feeds[viewer] = GameFeed(viewer, self.records)
        return feed

    def add(self, records: Sequence[Recorded]) -> None:
        """Take in new lines of the record."""
        if not records:
            return
        self.records += records
        for feed in self._feeds.values():
            for recorded in records:
                feed.feed(recorded)
        self.wake()

    def add_news(self, news: Sequence[TableNews]) -> None:
        """Take in news of the table, where the record cannot be read."""
        feed = self.feed(PUBLIC)
        if not feed.line:
            feed.take(1, 0.0, [TableOpened(self.game)])
        for item in news:
            feed.take(item.n + 1, 0.0, [item.fact])
        self.wake()

    def stall(self, reason: str | None) -> None:
        """Take in why nothing comes for now; None for going on."""
        if reason != self.stalled:
            self.stalled = reason
            self.wake()

    def end(self, problem: str | None = None) -> None:
        """Take in that nothing more will come, and why if something is wrong."""
        self.problem = problem or self.problem
        self.closed = True
        self.wake()

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Count a watcher, for whom the game is kept up to date."""
        self.watching += 1
        try:
            yield
        finally:
            self.watching -= 1

    def wake(self) -> None:
        """Wake all who wait for a change."""
        self._steps.clear()
        super().wake()

    def page(self, viewer: Viewer) -> dict[str, Any]:
        """Return the data of a page."""
        page = self.feed(viewer).page()
        page["viewers"] = list(self.viewers())
        page["over"] = page["over"] or self.closed or self.over
        if page["over"]:
            page["live"] = None
        page["stalled"] = self.stalled
        page["problems"] = [self.problem] if self.problem is not None else []
        if self.log is not None:
            page["game"] = self.log.game(page["game"])
        elif not self.shielded:
            page["proof"] = proof(self.records, self.problem)
        return page

    def summary(self) -> dict[str, Any]:
        """Return what a library tells of it while it goes on."""
        feed = self.feed(self.viewers()[0])
        summary: dict[str, Any] = {"game": self.game}
        if self.stalled is not None:
            summary["stalled"] = self.stalled
        if not feed.beats:
            return summary
        last = feed.beats[-1]
        living = [seat for seat in last.seats if seat.left is None]
        summary["round"] = last.round
        if self.names:
            summary["living"] = len(living)
        if last.phase is not None:
            summary["phase"] = last.phase
        if not self.shielded:
            summary |= {team: sum(seat.team == team for seat in living) for team in ("werewolves", "villagers")}
        return summary

    def step(self, viewer: Viewer, after: int) -> bytes:
        """Return the data of a live event for a page that has what there is up to line `after`."""
        key = viewer, after
        step = self._steps.get(key)
        if step is None:
            if len(self._steps) >= _CACHED:
                self._steps.clear()
            step = self._steps[key] = encoded({**self.feed(viewer).step(after), "stalled": self.stalled})
        return step


def encoded(value: Any) -> bytes:
    """Return plain values as compact JSON."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # a folder's name need not be UTF-8: what Python has for such bytes is written as JSON's own escape of it
    return text.encode(errors="backslashreplace")
