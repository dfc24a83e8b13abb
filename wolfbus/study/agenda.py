"""`StudyAgenda`: the games of a study, for workers to take: each is played once, whoever dies.

A worker takes games, reports their results, and gives back what it cannot finish. `LocalAgenda` is that of one process;
`wolfbus.study.redis_agenda.RedisAgenda` is on a Redis, for any number of processes on any machines.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame

HOUSE_KEPT_S: Final = 604_800.0
"""Seconds for which a Redis keeps what the house of a worker has there after the last that was heard of it, and where
games were begun that go on.
"""


AGENDA_GONE: Final = "the agenda is gone: its Redis has lost its data, or somebody has removed it"


@dataclass(frozen=True, slots=True)
class ClaimedGame:
    """A game that a worker has taken.

    Attributes:
        entry: its id on the agenda.
        game: the game.
        times: how often it was begun before, since it last got any further, by workers that did not finish it.
        house: the house in which it was last begun or gone on with; "" for none that matters.
        progress: how far it had come then, >= 0.
    """

    entry: str
    game: PlannedGame
    times: int
    house: str
    progress: int = 0


@dataclass(frozen=True, slots=True)
class FinishedGame:
    """A game that was played, or failed.

    Attributes:
        number: its number in the study.
        house: where it was played; its record is there. "" for nowhere.
        error: why it failed; None if it ended.
        seconds: how long it took.
        result: all that whoever played it says of it; None where it says no more.
    """

    number: int
    house: str
    error: str | None
    seconds: float
    result: GameResult | None = None


class StudyAgenda(Protocol):
    """What a worker asks of an agenda. All but `take` may be repeated after an error."""

    @property
    def is_open(self) -> bool:
        """Whether there may be games still."""

    @property
    def is_over(self) -> bool:
        """Whether there are none because everything is played, and not because the agenda was lost."""

    def take(self, house: str, at_most: int) -> list[ClaimedGame]:
        """Take games to play.

        Args:
            house: the worker, by the house in which it plays; no other uses that name.
            at_most: how many, > 0.
        """

    def begin(self, claimed: ClaimedGame, house: str, progress: int) -> None:
        """Note that a game is played in a house now, which has all that was played of it before.

        Args:
            claimed: the game.
            house: the worker that took it.
            progress: how far it had come. If that is further than when it was last begun, nobody counts as having died
                under it.
        """

    def renew(self, house: str, entries: Sequence[str]) -> dict[str, str]:
        """Renew the lease of what a worker took; returns what of it is no longer its own, and whose it is: "" for
        nobody's.
        """

    def give_back(self, house: str, entry: str) -> None:
        """Leave a game to whoever takes it next."""

    def pass_on(self, house: str, claimed: ClaimedGame) -> bool:
        """Leave a game to workers that have not passed it on themselves; returns whether one has it, or may."""

    def leave(self, house: str) -> None:
        """Have a worker no more counted among those who play."""

    def is_back(self) -> bool:
        """Return whether a worker can go on after the agenda was out of reach, or lost; raises ConfigError if it is
        another study's now.
        """

    def finish(self, claimed: ClaimedGame, house: str, result: GameResult) -> bool:
        """Report the result of a game; returns whether this counts, and not what another reported before."""


class LocalAgenda:
    """A study's agenda in this process, for one worker. Safe from any thread.

    Args:
        report: called with the result of each game, once.
    """

    def __init__(self, report: Callable[[GameResult], None]) -> None:
        self._report = report
        self._waiting: deque[PlannedGame] = deque()
        self._playing: dict[int, PlannedGame] = {}
        self._closed = False
        self._lock = threading.RLock()

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Put games on the agenda."""
        with self._lock:
            self._waiting.extend(games)

    def close(self) -> None:
        """Hand out no more."""
        self._closed = True

    @property
    def under_way(self) -> int:
        """How many games are held by the worker."""
        return len(self._playing)

    def withdraw(self) -> None:
        """Take back what nobody has begun."""
        with self._lock:
            self._waiting.clear()

    @property
    def is_open(self) -> bool:
        """Whether there may be games still."""
        return not self._closed

    @property
    def is_over(self) -> bool:
        """Whether there are no more."""
        return self._closed

    def take(self, house: str, at_most: int) -> list[ClaimedGame]:  # noqa: ARG002 - there is one worker
        """Take games to play, in the order in which they were posted."""
        with self._lock:
            count = 0 if self._closed else min(at_most, len(self._waiting))
            games = [self._waiting.popleft() for _ in range(count)]
            self._playing.update((game.number, game) for game in games)
        return [ClaimedGame(str(game.number), game, 0, "") for game in games]

    def begin(self, claimed: ClaimedGame, house: str, progress: int) -> None:
        """Need no note: whoever goes on finds the game in the study's folder."""

    def renew(self, house: str, entries: Sequence[str]) -> dict[str, str]:  # noqa: ARG002
        """Need no sign of life: nobody else takes anything."""
        return {}

    def give_back(self, house: str, entry: str) -> None:  # noqa: ARG002
        """Leave a game to whoever takes it next."""
        with self._lock:
            if (game := self._playing.pop(int(entry), None)) is not None:
                self._waiting.appendleft(game)

    def pass_on(self, house: str, claimed: ClaimedGame) -> bool:  # noqa: ARG002
        """Leave nothing to others, since there are none."""
        return False

    def leave(self, house: str) -> None:
        """Need no note: nobody counts."""

    def is_back(self) -> bool:
        """Return whether there may be games still."""
        return self.is_open

    def finish(self, claimed: ClaimedGame, house: str, result: GameResult) -> bool:  # noqa: ARG002
        """Report the result of a game; returns whether it was under way."""
        with self._lock:
            if claimed.game.number not in self._playing:
                return False
            # reported before it counts as no more under way: who waits for that knows of all
            self._report(result)
            del self._playing[claimed.game.number]
        return True
