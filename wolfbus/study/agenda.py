"""`StudyAgenda`: the games of a study, for players to take: each is played once, whoever dies.

A player takes games, says how they went, and gives back what it cannot finish. `LocalAgenda` is
that of one machine: the process that runs the study holds it, and serves it to the processes that
it starts. `wolfbus.study.redis_agenda.RedisAgenda` is on a Redis, for any number of machines.
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
class Taken:
    """A game that a player holds.

    Attributes:
        entry: its id on the agenda.
        game: the game.
        times: how often it was taken before, by players that did not finish it.
        house: the house in which the last of them played it; "" for none that matters.
    """

    entry: str
    game: PlannedGame
    times: int
    house: str


@dataclass(frozen=True, slots=True)
class Finished:
    """What came of a game.

    Attributes:
        number: the game's number in the study.
        house: where it was played; its record is there. "" for nowhere.
        error: why it failed; None if it ended.
        seconds: how long it took.
    """

    number: int
    house: str
    error: str | None
    seconds: float


class StudyAgenda(Protocol):
    """What a player asks of an agenda. All but `take` may be repeated after an error."""

    @property
    def is_open(self) -> bool:
        """Whether there may be games still."""

    def take(self, house: str, at_most: int) -> list[Taken]:
        """Take games to play.

        Args:
            house: the player, by the house in which it plays; no other uses that name.
            at_most: how many, > 0.
        """

    def hold(self, house: str, entries: Sequence[str]) -> list[str]:
        """Say that a player still plays what it took; returns what of it is no longer its own."""

    def give_back(self, house: str, entry: str) -> None:
        """Leave a game to whoever takes it next."""

    def finish(self, taken: Taken, house: str, result: GameResult) -> bool:
        """Tell what came of a game; returns whether this counts, and not what another told before."""


class LocalAgenda:
    """A study's agenda in this process. Safe from any thread.

    Args:
        told: called with what came of each game, once.
        back: called with a game that was given back, before anybody takes it again.
    """

    def __init__(self, told: Callable[[GameResult], None], back: Callable[[PlannedGame], None]) -> None:
        self._told = told
        self._back = back
        self._games: dict[int, PlannedGame] = {}
        self._waiting: deque[int] = deque()
        self._held: dict[int, str] = {}
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

    def lose(self, player: str | None = None) -> None:
        """Have others play what a player held that is gone; None for all that is still held."""
        with self._lock:
            for number, holder in sorted(self._held.items(), reverse=True):
                if player in {None, holder}:
                    self._times[number] += 1
                    self.give_back(holder, str(number))

    @property
    def under_way(self) -> int:
        """How many games somebody holds."""
        return len(self._held)

    @property
    def is_open(self) -> bool:
        """Whether there may be games still."""
        return not self._closed

    def take(self, house: str, at_most: int) -> list[Taken]:
        """Take games to play, in the order in which they were posted."""
        with self._lock:
            numbers = [] if self._closed else [self._waiting.popleft() for _ in range(min(at_most, len(self._waiting)))]
            self._held.update(dict.fromkeys(numbers, house))
        return [Taken(str(each), self._games[each], self._times[each], "") for each in numbers]

    def hold(self, house: str, entries: Sequence[str]) -> list[str]:  # noqa: ARG002
        """Need no sign of life: whoever is gone is told by `lose`."""
        return []

    def give_back(self, house: str, entry: str) -> None:
        """Leave a game to whoever takes it next."""
        with self._lock:
            if self._held.get(int(entry)) == house:
                self._back(self._games[int(entry)])
                del self._held[int(entry)]
                self._waiting.appendleft(int(entry))

    def finish(self, taken: Taken, house: str, result: GameResult) -> bool:
        """Tell what came of a game; returns whether it was this player's to tell."""
        with self._lock:
            if self._held.get(taken.game.number) != house:
                return False
            # told before it counts as no more under way: who waits for that has heard of all
            self._told(result)
            del self._held[taken.game.number], self._games[taken.game.number]
        return True
