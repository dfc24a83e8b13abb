"""`StudyAgenda`: the games of a study, for workers to take: each is played once, whoever dies.

A worker takes games, reports their results, and gives back what it cannot finish. `LocalAgenda` is that of one machine:
the process that runs the study has it, and serves it to the processes that it starts.
`wolfbus.study.redis_agenda.RedisAgenda` is on a Redis, for any number of machines.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame


@dataclass(frozen=True, slots=True)
class ClaimedGame:
    """A game that a worker has taken.

    Attributes:
        entry: its id on the agenda.
        game: the game.
        times: how often it was taken before, by workers that did not finish it.
        house: the house in which the last of them played it; "" for none that matters.
    """

    entry: str
    game: PlannedGame
    times: int
    house: str


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game that was played, or failed.

    Attributes:
        number: its number in the study.
        house: where it was played; its record is there. "" for nowhere.
        error: why it failed; None if it ended.
        seconds: how long it took.
    """

    number: int
    house: str
    error: str | None
    seconds: float


class StudyAgenda(Protocol):
    """What a worker asks of an agenda. All but `take` may be repeated after an error."""

    @property
    def is_open(self) -> bool:
        """Whether there may be games still."""

    def take(self, house: str, at_most: int) -> list[ClaimedGame]:
        """Take games to play.

        Args:
            house: the worker, by the house in which it plays; no other uses that name.
            at_most: how many, > 0.
        """

    def renew(self, house: str, entries: Sequence[str]) -> list[str]:
        """Renew the lease of what a worker took; returns what of it is no longer its own."""

    def give_back(self, house: str, entry: str) -> None:
        """Leave a game to whoever takes it next."""

    def finish(self, claimed: ClaimedGame, house: str, result: GameResult) -> bool:
        """Report the result of a game; returns whether this counts, and not what another reported before."""


class LocalAgenda:
    """A study's agenda in this process. Safe from any thread.

    Args:
        report: called with the result of each game, once.
        set_aside: called with a game that was given back, before anybody takes it again.
    """

    def __init__(self, report: Callable[[GameResult], None], set_aside: Callable[[PlannedGame], None]) -> None:
        self._report = report
        self._set_aside = set_aside
        self._games: dict[int, PlannedGame] = {}
        self._waiting: deque[int] = deque()
        self._holders: dict[int, str] = {}
        self._times: Counter[int] = Counter()
        self._closed = False
        self._lock = threading.RLock()

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Put games on the agenda."""
        with self._lock:
            for game in games:
                self._games[game.number] = game
                self._waiting.append(game.number)

    def close(self) -> None:
        """Hand out no more."""
        with self._lock:
            self._closed = True

    def release(self, worker: str | None = None) -> None:
        """Have others play what a worker held that is gone; None for all that is still held."""
        with self._lock:
            for number, holder in sorted(self._holders.items(), reverse=True):
                if worker in {None, holder}:
                    self._times[number] += 1
                    self.give_back(holder, str(number))

    @property
    def under_way(self) -> int:
        """How many games are held by workers."""
        return len(self._holders)

    @property
    def is_open(self) -> bool:
        """Whether there may be games still."""
        return not self._closed

    def take(self, house: str, at_most: int) -> list[ClaimedGame]:
        """Take games to play, in the order in which they were posted."""
        with self._lock:
            numbers = [] if self._closed else [self._waiting.popleft() for _ in range(min(at_most, len(self._waiting)))]
            self._holders.update(dict.fromkeys(numbers, house))
        return [ClaimedGame(str(number), self._games[number], self._times[number], "") for number in numbers]

    def renew(self, house: str, entries: Sequence[str]) -> list[str]:  # noqa: ARG002
        """Need no sign of life: `release` is called for whoever is gone."""
        return []

    def give_back(self, house: str, entry: str) -> None:
        """Leave a game to whoever takes it next."""
        with self._lock:
            if self._holders.get(int(entry)) == house:
                self._set_aside(self._games[int(entry)])
                del self._holders[int(entry)]
                self._waiting.appendleft(int(entry))

    def finish(self, claimed: ClaimedGame, house: str, result: GameResult) -> bool:
        """Report the result of a game; returns whether it was this worker's to report."""
        number = claimed.game.number
        with self._lock:
            if self._holders.get(number) != house:
                return False
            # reported before it counts as no more under way: who waits for that knows of all
            self._report(result)
            del self._holders[number], self._games[number]
        return True
