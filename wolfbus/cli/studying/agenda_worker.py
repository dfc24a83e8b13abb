"""`AgendaWorker`: takes games from an agenda and plays them in a house of this process; the same for any agenda."""

from __future__ import annotations

import errno
import logging
import queue
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from wolfbus.bus.protocol import Bus
from wolfbus.cli.embedded import EmbeddedHouse, Game
from wolfbus.cli.studying.results import ended_result, failed_result, head_of
from wolfbus.config import GameConfig
from wolfbus.errors import BudgetSpent, BusError, GivenUp, WolfError
from wolfbus.record.publish import append_record
from wolfbus.service.lifecycle import drain
from wolfbus.study.agenda import ClaimedGame, StudyAgenda
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import KEPT_S, Halt

if TYPE_CHECKING:
    from players.spec import BrainContext
    from wolfbus.service.lifecycle import Stopping

logger = logging.getLogger(__name__)

DEATHS: Final = 3
"""Workers that may die under a game before it counts as failed."""

_NO_ROOM: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""What makes every further record impossible."""

_POLL_S: Final = 0.1
_RENEWALS: Final = 3
"""How often a worker renews its lease in the time that it lasts."""
_BREAK_S: Final = 5.0
_OVERTAKEN: Final = "another worker plays it"


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How games are played.

    Attributes:
        url: the bus.
        config: the rules.
        folder: the study's; None to write no records.
        workers: how many processes play; 1 for this one alone.
        at_once: games under way at a time, over all workers, > 0.
        threads: pool threads of each that run the actors, > 0.
        keep_s: seconds that the record of a game that is over stays on a Redis: for spectators, since the file is the
            record; None for ever.
        brains: what workers make their brains by, keywords of `wolfbus.cli.brains.open_brain_context`.
        lock_fd: descriptor of the folder's lock, which a worker holds as long as it lives; None for none.
    """

    url: str = field(repr=False)
    config: GameConfig
    folder: Path | None
    workers: int = 1
    at_once: int = 16
    threads: int = 2
    keep_s: float | None = KEPT_S
    brains: Mapping[str, Any] = field(default_factory=dict)
    lock_fd: int | None = None

    def record(self, game: PlannedGame) -> Path | None:
        """Return where a game's record is written; None for nowhere."""
        return self.folder / game.record if self.folder is not None else None

    def share(self, key: int) -> WorkerSettings:
        """Return the settings of one of the workers, counted from 0."""
        share = self.at_once // self.workers + (key < self.at_once % self.workers)
        return replace(self, at_once=max(share, 1))


@dataclass(frozen=True, slots=True)
class AgendaBus:
    """The bus of an agenda that is shared, where whoever runs the study looks for records.

    Attributes:
        bus: that bus; None where the agenda is not shared, and nothing is done.
        near: the bus that games are played on, where it is another; None where it is the same.
    """

    bus: Bus | None = None
    near: Bus | None = None

    def check(self, house: str) -> None:
        """Check that the bus which a house plays on is there; raises BusError where it is not."""
        if self.near is not None:
            self.near.owner(house)

    def upload(self, house: str, game: str, path: Path) -> None:
        """Put the record of a game that is over on the bus, where it is not there already; raises BusError."""
        if self.bus is not None and self.near is not None:
            append_record(self.bus, house, game, path)
            path.unlink()

    def expire(self, house: str, game: str) -> None:
        """Have the bus forget, after a while, a game that nobody wants from this house any more.

        A worker that was only slow may be the first to finish yet, and its record is wanted then.
        """
        if self.bus is not None:
            self.bus.expire(house, game, KEPT_S)

    def discard(self, house: str, game: str, path: Path | None) -> None:
        """Discard what there is of a game that was broken off, which this worker may take again."""
        self.expire(house, game)
        if self.bus is not None and path is not None:
            path.unlink(missing_ok=True)


class AgendaWorker:
    """Plays the games that it takes from an agenda, and reports their results.

    Args:
        agenda: where games are.
        settings: how it plays.
        brain_context: what the brains share; None for a fresh one.
        bus: the agenda's bus.
        lease_s: seconds after which the agenda takes a silent worker for dead, > 0.

    Raises:
        WolfError: the bus cannot be used.
    """

    def __init__(
        self,
        agenda: StudyAgenda,
        settings: WorkerSettings,
        brain_context: BrainContext | None,
        bus: AgendaBus = AgendaBus(),
        lease_s: float = 15.0,
    ) -> None:
        self._agenda = agenda
        self._settings = settings
        self._brain_context = brain_context
        self._bus = bus
        self._lease_s = lease_s
        self._playing: dict[str, ClaimedGame] = {}
        self._news: queue.SimpleQueue[Game | WolfError | None] = queue.SimpleQueue()
        self._halt: Halt | None = None
        self._open_house()

    def _open_house(self) -> None:
        settings = self._settings
        self._ending = False
        self._overtaken: list[str] = []
        self._house = EmbeddedHouse(
            settings.url,
            threads=settings.threads,
            brain_context=self._brain_context,
            done=self._news.put,
            keep_s=settings.keep_s,
        )
        self._name = self._house.name
        if self._brain_context is not None:
            self._brain_context.fatal = self._fatal

    def wake(self) -> None:
        """Have a look at the agenda now; any thread may call it."""
        self._news.put(None)

    def play(self, stopping: Stopping) -> Halt | None:
        """Play until the agenda is closed, somebody asks to stop, or no more can be played.

        Returns:
            Why no more can be played; None otherwise.
        """
        self._play(stopping)
        while self._overtaken and self._halt is None and not stopping.requested and self._agenda.is_open:
            # of its house the bus may have forgotten what others play now
            games = ", ".join(self._overtaken)
            reason = f"this one was silent for longer than its lease of {self._lease_s:g} s"
            logger.warning("another worker has taken %s, for %s; it goes on with the next", games, reason)
            self._open_house()
            self._play(stopping)
        return self._halt

    def _play(self, stopping: Stopping) -> None:
        """Play in one house."""
        next_renewal = time.monotonic()
        hasty = True
        try:
            while not stopping.requested and self._halt is None and not self._overtaken:
                if not self._playing and not self._agenda.is_open:
                    break
                if time.monotonic() >= next_renewal:
                    try:
                        self._bus.check(self._name)
                    except BusError as error:
                        self._give_up(error)
                        break
                    if not self._renew():
                        break
                    next_renewal = time.monotonic() + self._lease_s / _RENEWALS
                self._take()
                self._process_news()
            self._break_off(self._halt.why if self._halt is not None else stopping.why or _OVERTAKEN)
            hasty = self._halt is not None or bool(self._playing)
        finally:
            if hasty:
                self._house.abandon()
            self._house.close()
        if self._playing:
            # games that took longer than that to be broken off
            self._process_news()

    def _renew(self) -> bool:
        """Renew the lease; returns whether all that this worker plays is still its own."""
        lost = self._agenda.renew(self._name, [claimed.entry for claimed in self._playing.values()])
        self._overtaken += [game for game, claimed in self._playing.items() if claimed.entry in lost]
        return not self._overtaken

    def _take(self) -> None:
        room = self._settings.at_once - len(self._playing)
        for claimed in self._agenda.take(self._name, room) if room else ():
            game = claimed.game
            if game.game in self._playing:
                # silent for so long that it was thought dead, and quick enough to take it again
                continue
            if claimed.house not in {"", self._name}:
                self._bus.expire(claimed.house, game.game)
            if claimed.times >= DEATHS:
                error = f"{DEATHS} workers died while they played it"
                self._agenda.finish(claimed, self._name, failed_result(game, error, 0.0))
                continue
            self._playing[game.game] = claimed
            try:
                self._house.open(self._settings.config, game.seed, game.brains, self._settings.record(game), game.game)
            except WolfError as error:
                self._fail(game, error, 0.0)

    def _process_news(self) -> None:
        """Process what has happened; wait a moment for something."""
        for news in drain(self._news, _POLL_S):
            if isinstance(news, Game):
                self._collect(news)
            elif news is not None:
                self._give_up(news)

    def _collect(self, game: Game) -> None:
        """Report the result of a game that is over."""
        planned = self._playing[game.opened.game].game
        over = game.over
        if over is None or over.error is not None or over.ended is None:
            error = over.error if over is not None and over.error is not None else WolfError("it did not finish")
            self._fail(planned, error, game.seconds)
            return
        path = self._settings.record(planned)
        head = head_of(path) if path is not None else ""
        if path is not None and not head:
            self._fail(planned, WolfError(f"{path}: the record is not whole"), game.seconds)
            return
        if path is not None:
            self._bus.upload(self._name, planned.game, path)
        self._finish(planned, ended_result(planned, game.counts, over.digest, over.ended.rounds, game.seconds, head))

    def _finish(self, game: PlannedGame, result: GameResult) -> None:
        claimed = self._playing.pop(game.game)
        if not self._agenda.finish(claimed, self._name, result):
            logger.info("another worker was first", extra={"game": game.game})
            self._bus.expire(self._name, game.game)

    def _fail(self, game: PlannedGame, error: WolfError, seconds: float) -> None:
        """Report that a game failed; or leave it to others, if that is no fault of its own."""
        cause = error.__context__
        no_room = isinstance(cause, OSError) and cause.errno in _NO_ROOM
        if isinstance(error, BusError | BudgetSpent) or no_room or self._house.is_over:
            self._give_up(error)
        if not (self._ending or self._overtaken or self._halt):
            self._finish(game, failed_result(game, str(error), seconds))
            return
        claimed = self._playing.pop(game.game)
        self._bus.discard(self._name, game.game, self._settings.record(game))
        self._agenda.give_back(self._name, claimed.entry)

    def _give_up(self, reason: WolfError) -> None:
        if self._ending or self._overtaken:
            return
        # a game that another has taken is refused on the bus
        if not isinstance(reason, BusError) or self._renew():
            self._halt = self._halt or Halt(str(reason), isinstance(reason, BudgetSpent))

    def _fatal(self, reason: WolfError) -> None:
        if isinstance(reason, GivenUp):
            # this game has failed; those of other models go on
            self._house.end(reason, reason.game)
            return
        self._news.put(reason)
        self._house.end(reason)

    def _break_off(self, reason: str) -> None:
        """Give back what is under way."""
        self._ending = True
        if self._playing:
            self._house.end(WolfError(reason))
        until = time.monotonic() + _BREAK_S
        while self._playing and time.monotonic() < until:
            self._process_news()
