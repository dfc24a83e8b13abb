"""`Playing`: one process's games of a study, on a house of its own; the study's parent may be another process."""

from __future__ import annotations

import contextlib
import errno
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wolfbus.cli.embedded import EmbeddedHouse, Game
from wolfbus.cli.studying.reading import ended, failed, head_of, result_of
from wolfbus.config import GameConfig
from wolfbus.errors import BudgetSpent, BusError, GivenUp, WolfError
from wolfbus.study.plan import PlannedGame
from wolfbus.study.result import GameResult

if TYPE_CHECKING:
    from players.venue import Venue

KEPT_S: Final = 600.0
"""Seconds for which the record of a game that is over stays on a Redis once it is in a file."""

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""What makes every further record impossible."""


@dataclass(frozen=True, slots=True)
class Done:
    """A game is through: here is its result."""

    result: GameResult


@dataclass(frozen=True, slots=True)
class Broken:
    """A game was broken off, for no fault of its own."""

    number: int


@dataclass(frozen=True, slots=True)
class Halt:
    """No more games can be played.

    Attributes:
        why: one line.
        budget: whether the budget ends here.
    """

    why: str
    budget: bool = False


Word = Done | Broken | Halt


class Playing:
    """Plays games in this process; what comes of them is told from other threads.

    Args:
        url: the bus.
        config: the rules.
        folder: the study's folder; None to write no records.
        venue: what the brains share.
        tell: told everything that happens.
        keep_s: seconds that the record of a game that is over stays on a Redis: for spectators, since the file is the
            record; None for ever.
        threads: pool threads that run the actors.

    Attributes:
        house: name of the house in which the games are played.
    """

    def __init__(
        self,
        url: str,
        config: GameConfig,
        folder: Path | None,
        venue: Venue | None,
        tell: Callable[[Word], None],
        keep_s: float | None = KEPT_S,
        threads: int = 2,
    ) -> None:
        self._config = config
        self._folder = folder
        self._tell = tell
        self._running: dict[str, PlannedGame] = {}
        self._lock = threading.Lock()
        self._ending = False
        self._house = EmbeddedHouse(url, threads=threads, venue=venue, done=self._done, keep_s=keep_s)
        self.house = self._house.name
        if venue is not None:
            venue.fatal = self._fatal

    def play(self, planned: PlannedGame) -> None:
        """Begin a game and return at once."""
        with self._lock:
            self._running[planned.game] = planned
        try:
            self._house.open(self._config, planned.seed, planned.brains, self._path(planned), planned.game)
        except WolfError as error:
            self._lose(planned, error, 0.0)

    def end(self, reason: str) -> None:
        """Break off all games; each is told as broken."""
        self._ending = True
        self._house.end(WolfError(reason))

    def close(self, *, hasty: bool = False) -> None:
        """End the house."""
        self._ending = True
        if hasty:
            self._house.abandon()
        self._house.close()

    def _fatal(self, reason: WolfError) -> None:
        if isinstance(reason, GivenUp):
            # this game has failed; those of other models go on
            self._house.end(reason, reason.game)
            return
        self._halt(reason)
        self._house.end(reason)

    def _halt(self, reason: WolfError) -> None:
        if not self._ending:
            self._ending = True
            self._tell(Halt(str(reason), isinstance(reason, BudgetSpent)))

    def _done(self, game: Game) -> None:
        planned = self._running.get(game.opened.game)
        if planned is None:
            return
        over = game.over
        if over is None or over.error is not None or over.ended is None:
            error = over.error if over is not None and over.error is not None else WolfError("it did not finish")
            self._lose(planned, error, game.seconds)
            return
        path = self._path(planned)
        head = head_of(path) if path is not None else ""
        result: GameResult | str = "it was not measured"
        if game.rows is not None:
            result = ended(planned, game.rows, over.digest, over.ended.rounds, game.seconds, head)
        elif path is not None:
            # the record is whole, whatever became of the live measurement
            result = result_of(path, planned, self._config)
        self._forget(planned)
        if isinstance(result, str) or (path is not None and not head):
            self._lose(planned, WolfError(f"{path or planned.game}: the record is not whole"), game.seconds)
        else:
            self._tell(Done(result))

    def _path(self, planned: PlannedGame) -> Path | None:
        return self._folder / planned.record if self._folder is not None else None

    def _lose(self, planned: PlannedGame, error: WolfError, seconds: float) -> None:
        self._forget(planned)
        if self._ends_all(error):
            self._halt(error)
        if self._ending:
            self._tell(Broken(planned.number))
            return
        self._tell(Done(failed(planned, str(error), seconds)))

    def _ends_all(self, error: WolfError) -> bool:
        cause = error.__context__
        return isinstance(error, BusError | BudgetSpent) or (isinstance(cause, OSError) and cause.errno in _NO_ROOM)

    def _forget(self, planned: PlannedGame) -> None:
        with self._lock:
            self._running.pop(planned.game, None)


def divided(models: Mapping[str, Any], workers: int) -> dict[str, Any]:
    """Return models whose endpoints may be pressed by one of several workers as hard as its share allows."""
    if workers == 1:
        return dict(models)
    return {name: _share(model, workers) for name, model in models.items()}


def _share(model: Any, workers: int) -> Any:
    endpoint = model.endpoint
    limits: dict[str, Any] = {"at_once": max(1, endpoint.at_once // workers)}
    for name in ("requests_per_minute", "tokens_per_minute"):
        if getattr(endpoint, name) is not None:
            limits[name] = getattr(endpoint, name) / workers
    return model.model_copy(update={"endpoint": endpoint.model_copy(update=limits)})


def quiet_brains() -> contextlib.AbstractContextManager[Any]:
    """Send whatever brains print to stderr: it is not a result."""
    import sys

    return contextlib.redirect_stdout(sys.stderr)
