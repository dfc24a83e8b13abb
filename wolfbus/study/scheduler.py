"""`StudyScheduler`: has a study's games played, notes their results, keeps journal and manifest.

A `StudyExecutor` has them played: on this machine, by agents of houses, or by workers of an agenda. What it reports are
results of games, and `Halt`.
"""

from __future__ import annotations

import contextlib
import queue
import time
from collections import Counter, deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeAlias

from wolfbus.files.printable import counted
from wolfbus.service.lifecycle import drain
from wolfbus.service.signals import Interrupts
from wolfbus.study.folder import Manifest, StudyFolder, utc_now
from wolfbus.study.journal import CallsSoFar, GameResult, Spent
from wolfbus.study.manifest import FILE
from wolfbus.study.plan import PlannedGame
from wolfbus.study.said import forget_said, remove_said_folder
from wolfbus.study.settings import MOST_GAMES

if TYPE_CHECKING:
    from wolfbus.study.showing import StudyProgress

KEPT_S: Final = 600.0
"""Seconds for which the record of a game that is over stays on a Redis once it is in a file."""

_POLL_S: Final = 0.25
_WRITE_S: Final = 5.0
"""Least time between two writes of the manifest; the journal has every game at once."""
_WRITE_SHARE: Final = 0.02
"""Most of its time that this spends on writing the manifest."""
_BREAK_S: Final = 5.0
"""How long games that are broken off may take to say so."""
_ERRORS_KEPT: Final = 10


@dataclass(frozen=True, slots=True)
class Halt:
    """No more games can be played.

    Attributes:
        why: one line.
        budget: whether the budget ends here.
    """

    why: str
    budget: bool = False

    def __post_init__(self) -> None:
        """Make one line of what errors said."""
        object.__setattr__(self, "why", " ".join(self.why.split()))


StudyNews: TypeAlias = GameResult | Halt
"""The result of a game, or that no more can be played."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """How many games a study's budget is expected to carry.

    Attributes:
        usd: the budget in US dollars; None for no limit.
        tokens: the budget in tokens; None for no limit.
        game: what one game is expected to take.
    """

    usd: float | None
    tokens: int | None
    game: Spent

    def games(self, spent: Spent) -> int:
        """Return how many games what is left carries; one at least, since a game may take less."""
        shares = []
        if self.usd is not None and self.game.spent_usd:
            shares.append((self.usd - spent.spent_usd) / self.game.spent_usd)
        if self.tokens is not None and self.game.spent_tokens:
            shares.append((self.tokens - spent.spent_tokens) / self.game.spent_tokens)
        return max(1, int(min(shares, default=MOST_GAMES)))


class StudyExecutor(Protocol):
    """Has a study's games played. What happens goes to a queue: the result of each game, and that no more can be
    played.
    """

    @property
    def under_way(self) -> int:
        """How many games are under way that `cancel` would break off."""

    @property
    def spent(self) -> Spent | None:
        """What is spent of the study's budget; None unless it is kept here."""
        return None

    @property
    def calls(self) -> CallsSoFar | None:
        """What model calls of this run took, as far as this machine makes them; None where others do."""
        return None

    @property
    def playing(self) -> int:
        """How many games are under way that would come to their end after `drain`."""
        return 0

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Have games played, in this order; returns at once."""

    def drain(self) -> bool:
        """Have no more games begun; returns whether those under way are to be waited for.

        They are not where others play them all the same, or where they wait for the run that resumes.
        """
        return False

    def cancel(self, reason: str) -> None:
        """Break off all games, which are left to the run that resumes; none of them counts as played."""

    def close(self, *, hasty: bool) -> None:
        """End all that plays; in haste, without waiting for the bus."""


class StudyScheduler:
    """Plays what is pending. All methods are called from the main thread.

    Args:
        folder: the study's.
        manifest: what is known of it.
        pending: games to play, in order.
        news: where the executor puts what happens.
        progress: shows how far it is.
        interrupts: hold Ctrl-C back until journal and manifest say the same.
        forecast: what the budget carries: no more games are under way than that; None to have all played at once.
        before: what model calls took before this run, those of games that were broken off included.
    """

    def __init__(
        self,
        folder: StudyFolder,
        manifest: Manifest,
        pending: Iterable[PlannedGame],
        news: queue.Queue[StudyNews],
        progress: StudyProgress,
        interrupts: Interrupts,
        forecast: Forecast | None = None,
        before: CallsSoFar = CallsSoFar(),  # noqa: B008 - frozen
    ) -> None:
        self._folder = folder
        self._manifest = manifest
        self._pending = {game.number: game for game in pending}
        self._waiting = deque(self._pending.values())
        self._forecast = forecast
        self._before = before
        self._news = news
        self._progress = progress
        self._interrupts = interrupts
        self._executor: StudyExecutor | None = None
        self._next_write = 0.0
        self.spent: Spent | None = None
        """What was noted last of what is spent; None where nothing was."""
        self.halted: Halt | None = None
        """Why no more games could be played; None as long as they can."""
        self.errors: list[tuple[str, str]] = []
        """(game, error) of the first games that failed."""
        self.halts: dict[str, list[str]] = {}
        """Games that halted, by why."""
        self.unheard: Counter[str] = Counter()
        """In how many games none of a brain's answers could be used."""

    def run(self, executor: StudyExecutor) -> None:
        """Have all games played, until that is done or no more can be.

        Raises:
            KeyboardInterrupt: the user has had enough; what is under way is still under way.
            OSError: journal or manifest cannot be written.
        """
        self._executor = executor
        while self._pending:
            self._submit(executor)
            self._step(executor)
            if self.halted is not None:
                return

    def drain(self) -> bool:
        """Begin no more games, and have those that are under way come to their end, where that is to be waited for.

        Returns:
            Whether they did, and nothing keeps more from being played.

        Raises:
            KeyboardInterrupt: the user does not want to wait.
            OSError: journal or manifest cannot be written.
        """
        executor = self._executor
        if executor is None or self.halted is not None or not executor.drain():
            return False
        if playing := executor.playing:
            games = counted(playing, "game")
            self._progress.say(f"{games} under way, Ctrl-C again to stop now: they go on with --resume")
        while executor.playing and self.halted is None:
            self._step(executor)
        return self.halted is None

    def _step(self, executor: StudyExecutor) -> None:
        self._process_news(_POLL_S)
        if self.halted is None:
            self._progress.update(self._calls(executor), executor.spent)
            if time.monotonic() >= self._next_write:
                self.write()

    def _calls(self, executor: StudyExecutor) -> CallsSoFar:
        """Return what model calls took so far; where others make them, as far as their games are over."""
        if (calls := executor.calls) is not None:
            return self._before + calls
        manifest = self._manifest
        return CallsSoFar(manifest.calls, manifest.cost_usd)

    def _submit(self, executor: StudyExecutor) -> None:
        """Have games played, as many as the budget is expected to carry."""
        room = len(self._waiting)
        if self._forecast is not None:
            under_way = len(self._pending) - len(self._waiting)
            room = min(room, self._forecast.games(executor.spent or Spent()) - under_way)
        if room > 0:
            executor.submit([self._waiting.popleft() for _ in range(room)])

    def break_off(self, reason: str) -> None:
        """Break off what is under way and wait a moment for it; none of it counts as played."""
        if self._executor is None:
            return
        self._executor.cancel(reason)
        until = time.monotonic() + _BREAK_S
        while self._executor.under_way and time.monotonic() < until:
            self._process_news(_POLL_S)
        self._process_news(0.0)

    def close(self, *, hasty: bool) -> None:
        """Close the executor."""
        if self._executor is not None:
            self._executor.close(hasty=hasty)
            # what came to its end meanwhile; --resume finds it, should it not be possible to note it
            with contextlib.suppress(OSError):
                self._process_news(0.0)
        remove_said_folder(self._folder.path)

    def write(self) -> None:
        """Write the manifest; raises OSError."""
        began = time.monotonic()
        self._note_spent()
        self._folder.write(FILE, self._manifest.pieces(utc_now()))
        now = time.monotonic()
        self._next_write = now + max(_WRITE_S, (now - began) / _WRITE_SHARE)

    def _note_spent(self) -> None:
        at = time.time()
        spent = self._executor.spent if self._executor is not None else None
        if spent is not None and spent != self.spent:
            self.spent = spent
            self._folder.note({**spent.model_dump(), "at": at})

    def _process_news(self, patience_s: float) -> None:
        """Process all that has happened; wait a moment for something."""
        # what was taken from the queue is noted, too
        with self._interrupts.held_back():
            for news in drain(self._news, patience_s):
                self._process(news)

    def _process(self, news: StudyNews) -> None:
        if isinstance(news, Halt):
            self.halted = self.halted or news
        elif (planned := self._pending.pop(news.number, None)) is not None:
            self._folder.note(news)
            # before that is gone by which it could be told
            self._note_spent()
            if news.state != "halted":
                forget_said(self._folder.path / planned.record)
            self._manifest.put(news)
            self._progress.count_game()
            self.unheard.update(news.unheard)
            if news.state == "halted":
                self.halts.setdefault(news.error or "", []).append(news.game)
            elif news.error is not None and len(self.errors) < _ERRORS_KEPT:
                self.errors.append((news.game, news.error))
