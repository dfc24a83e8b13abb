"""`StudyScheduler`: hands out a study's games, takes in what comes of them, and keeps the journal."""

from __future__ import annotations

import contextlib
import queue
import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from wolfbus.cli.studying.folder import StudyFolder
from wolfbus.cli.studying.playing import Broken, Done, Halt
from wolfbus.cli.studying.progress import StudyProgress
from wolfbus.cli.studying.workers import CallSettled, CallWish, Report, Worker, WorkerLost
from wolfbus.errors import WolfError
from wolfbus.study.manifest import FILE, Manifest, utc_now
from wolfbus.study.plan import PlannedGame
from wolfbus.study.result import GameResult

if TYPE_CHECKING:
    from players.llm.shared_budget import SharedBudget

_GLANCE_S: Final = 0.25
_WRITE_S: Final = 5.0
"""Least time between two writes of the manifest; the journal has every game at once."""
_SHARE: Final = 0.02
"""Most of its time that this spends on writing the manifest."""
_BREAK_S: Final = 5.0
"""How long games that are broken off may take to say so."""
_ERRORS_KEPT: Final = 10
_DEATHS: Final = 3
"""Workers that may die under a game before it counts as failed."""


class StudyScheduler:
    """Plays what is pending. All methods are called from the main thread.

    Args:
        folder: the study's.
        manifest: what is known of it.
        pending: games to play, in order.
        at_once: games under way at a time, over all workers.
        news: where the workers tell what happens.
        progress: shows how far it is.
        hire: returns a new worker under a number, in place of one that was lost; None where none can be lost.
    """

    def __init__(
        self,
        folder: StudyFolder,
        manifest: Manifest,
        pending: Iterable[PlannedGame],
        at_once: int,
        news: queue.SimpleQueue[Report],
        progress: StudyProgress,
        hire: Callable[[int], Worker] | None,
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._pending = deque(pending)
        self._at_once = at_once
        self._news = news
        self._progress = progress
        self._hire = hire
        self._workers: dict[int, Worker] = {}
        self._running: dict[int, dict[int, PlannedGame]] = {}
        self._deaths: Counter[int] = Counter()
        self._budget: SharedBudget | None = None
        self._noted: dict[str, Any] = {}
        self._next_write = 0.0
        self.halted: Halt | None = None
        """Why no more games could be played; None as long as they can."""
        self.spent: Callable[[], dict[str, Any]] = dict
        """Returns what is spent in all, for the journal; nothing where there is no budget."""
        self.errors: list[tuple[str, str]] = []
        """(game, error) of the first games that failed."""

    @property
    def say(self) -> Callable[[str], None]:
        """Tells people something that is not about games; any thread may call it."""
        return self._progress.say

    def take(self, key: int, worker: Worker) -> None:
        """Let a worker play from now on."""
        self._workers[key] = worker
        self._running[key] = {}

    def share(self, budget: SharedBudget) -> None:
        """Let this budget decide the workers' wishes."""
        self._budget = budget

    def answer(self, worker: int, key: int, refusal: str | None) -> None:
        """Tell a worker what became of its wish."""
        asking = self._workers.get(worker)
        if asking is not None:
            asking.answer(key, refusal)

    def run(self) -> None:
        """Play until all is played, or nothing more can be.

        Raises:
            KeyboardInterrupt: the user has had enough; what is under way is still under way.
            OSError: journal or manifest cannot be written.
        """
        self._fill()
        while any(self._running.values()):
            self._hear(_GLANCE_S)
            if self.halted is not None:
                return
            self._fill()
            self._progress.look()
            if time.monotonic() >= self._next_write:
                self.write()

    def break_off(self, reason: str) -> None:
        """Break off what is under way and wait a moment for it; none of it counts as played."""
        for worker in self._workers.values():
            worker.end(reason)
        until = time.monotonic() + _BREAK_S
        while any(self._running.values()) and time.monotonic() < until:
            self._hear(_GLANCE_S)

    def close(self, *, hasty: bool) -> None:
        """Let all workers end, and move what they left unfinished out of the way."""
        try:
            for worker in self._workers.values():
                worker.close(hasty=hasty)
        finally:
            for games in self._running.values():
                for game in games.values():
                    self._clear(game)
            self._running.clear()

    def write(self) -> None:
        """Write the manifest; raises OSError."""
        began = time.monotonic()
        if (spent := self.spent()) != self._noted:
            self._noted = spent
            self._folder.note(spent)
        self._folder.write(FILE, self._manifest.pieces(utc_now()))
        now = time.monotonic()
        self._next_write = now + max(_WRITE_S, (now - began) / _SHARE)

    def _fill(self) -> None:
        """Give every worker as many games as it may have, the idlest first."""
        if not self._workers:
            return
        free = self._at_once - sum(map(len, self._running.values()))
        while self._pending and free > 0:
            key = min(self._running, key=lambda each: len(self._running[each]))
            game = self._pending.popleft()
            self._running[key][game.number] = game
            self._workers[key].play(game)
            free -= 1

    def _hear(self, patience_s: float) -> None:
        """Take in all news there is; wait a moment for some."""
        try:
            key, word = self._news.get(timeout=patience_s)
            while True:
                self._take_in(key, word)
                key, word = self._news.get_nowait()
        except queue.Empty:
            return

    def _take_in(self, key: int, word: object) -> None:
        with _uninterrupted():
            self._sort(key, word)

    def _sort(self, key: int, word: object) -> None:
        if isinstance(word, Done):
            self._note(key, word.result)
        elif isinstance(word, Broken):
            self._put_back(key, word.number)
        elif isinstance(word, Halt):
            self.halted = self.halted or word
        elif isinstance(word, CallWish) and self._budget is not None:
            amount = word.amount
            self._budget.reserve(key, word.key, lambda: amount, word.what)
        elif isinstance(word, CallSettled) and self._budget is not None:
            self._budget.settle(key, word.key, word.amount)
        elif isinstance(word, WorkerLost):
            self._replace(key)

    def _note(self, key: int, result: GameResult) -> None:
        if self._running.get(key, {}).pop(result.number, None) is None:
            return
        self._folder.note(result)
        self._manifest.put(result)
        self._progress.game()
        if result.error is not None and len(self.errors) < _ERRORS_KEPT:
            self.errors.append((result.game, result.error))

    def _put_back(self, key: int, number: int) -> None:
        game = self._running.get(key, {}).pop(number, None)
        if game is not None:
            self._clear(game)
            self._pending.appendleft(game)

    def _clear(self, game: PlannedGame) -> None:
        # where that cannot be done, perhaps because the disk is full, --resume does it
        with contextlib.suppress(OSError):
            self._folder.set_aside(self._folder.path / game.record)

    def _replace(self, key: int) -> None:
        """Play the games of a lost worker again, with a new one in its place."""
        games = list(self._running.get(key, {}).values())
        if self._budget is not None:
            self._budget.lose(key)
        for game in reversed(games):
            self._deaths[game.number] += 1
            if self._deaths[game.number] < _DEATHS:
                self._put_back(key, game.number)
            else:
                error = f"{_DEATHS} workers died while they played it"
                self._note(key, GameResult(number=game.number, game=game.game, state="failed", error=error))
        worker = self._workers.pop(key)
        del self._running[key]
        worker.close(hasty=True)
        if self._hire is None or self.halted is not None:
            return
        try:
            self.take(key, self._hire(key))
        except WolfError as error:
            if not self._workers:
                self.halted = Halt(str(error))


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until journal and manifest say the same; then raise KeyboardInterrupt if it came."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {each: signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        for each in before:
            signal.signal(each, lambda number, _frame: came.append(number))
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
    if came:
        raise KeyboardInterrupt
