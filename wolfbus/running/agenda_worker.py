"""`AgendaWorker`: takes games from an agenda and plays them in a house of this process; the same for any agenda."""

from __future__ import annotations

import contextlib
import errno
import logging
import queue
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wolfbus.bus import streams
from wolfbus.bus.protocol import Bus, Entry
from wolfbus.bus.pump import BusWriter
from wolfbus.bus.streams import parse_id
from wolfbus.errors import BudgetSpent, BusDown, BusError, GivenUp, ModelHalted, WolfError
from wolfbus.game.config import GameConfig
from wolfbus.game.vocabulary import SCRIPTS
from wolfbus.record.line import Recorded
from wolfbus.record.publish import append_record, entry_of
from wolfbus.running.earlier import EarlierPlay, SaidFile, find_in_folder, find_on_bus
from wolfbus.running.forking import ForkMaker, ReadyFork
from wolfbus.running.house import AGENT, EmbeddedHouse, Game, GameKeeper, keys_of
from wolfbus.running.results import ended_result, failed_result, head_of
from wolfbus.service.lifecycle import drain
from wolfbus.study.agenda import HOUSE_KEPT_S, ClaimedGame, StudyAgenda
from wolfbus.study.folder import set_aside
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import KEPT_S, Halt

if TYPE_CHECKING:
    from players.spec import BrainContext
    from wolfbus.service.lifecycle import Stopping

logger = logging.getLogger(__name__)

DEATHS: Final = 3
"""Workers that may die under a game, without getting it any further, before it counts as failed."""

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
        folder: the study's, where records are written.
        at_once: games under way at a time, > 0.
        threads: pool threads that run the actors, > 0.
        keep_s: seconds that the record of a game that is over stays on a Redis: for spectators, since the file is the
            record; None for ever.
        new_house: returns the name of the next house in which this worker plays; None for any.
    """

    url: str = field(repr=False)
    config: GameConfig
    folder: Path
    at_once: int = 16
    threads: int = 2
    keep_s: float | None = KEPT_S
    new_house: Callable[[], str] | None = None

    def record(self, game: PlannedGame) -> Path:
        """Return where a game's record is written."""
        return self.folder / game.record


@dataclass(frozen=True, slots=True)
class AgendaBus:
    """The bus of an agenda that is shared, where whoever runs the study looks for records, and whoever goes on with a
    game for what is left of it.

    Attributes:
        bus: that bus; None where the agenda is not shared, and the study's folder has all that.
        near: the bus that games are played on, where it is another; None where it is the same.
        copies: writes to that bus what is played on another, as it is played; None where it is the same.
    """

    bus: Bus | None = None
    near: Bus | None = None
    copies: BusWriter | None = None

    def check(self, house: str) -> None:
        """Check that the bus which a house plays on is there; raises BusError where it is not."""
        if self.near is not None:
            self.near.owner(house)

    def find(self, claimed: ClaimedGame, path: Path) -> EarlierPlay | None:
        """Return what is left of a game that was taken before; None if nothing is to go on from. Raises BusDown."""
        if self.bus is None:
            return find_in_folder(path)
        return find_on_bus(self.bus, claimed.house, AGENT, claimed.game.game) if claimed.house else None

    def keeper(self, house: str, game: PlannedGame, path: Path, earlier: EarlierPlay | None) -> GameKeeper | None:
        """Return what keeps a game as it is played; None where the bus itself does, or its players cost nothing.

        Raises:
            RecordError: the study's folder cannot be written.
        """
        if self.copies is not None:
            return _Copy(self.copies, house, game.game, earlier)
        if self.bus is not None or SCRIPTS.issuperset(game.brains):
            return None
        return _SaidKeeper(SaidFile(path, earlier.messages if earlier is not None else ()))

    def upload(self, house: str, game: str, path: Path) -> None:
        """Put the record of a game that is over on the bus, where it is not there already; raises BusError."""
        if self.bus is None:
            return
        if self.near is not None:
            append_record(self.bus, house, game, path)
            path.unlink()
        keys = (streams.record(house, game), streams.table(house, game), streams.outbox(house, game))
        self.bus.forget(keys, HOUSE_KEPT_S)

    def expire(self, house: str, game: str) -> None:
        """Have the bus forget, after a while, a game that nobody wants from this house any more.

        A worker that was only slow may be the first to finish yet, and its record is wanted then.
        """
        if self.bus is not None:
            self.bus.expire(house, game, KEPT_S)
            self.bus.forget([streams.outbox(house, game)], KEPT_S)
            # it may have died before it could say so itself
            self.bus.forget(keys_of(house), HOUSE_KEPT_S)

    def leave(self, path: Path) -> None:
        """Leave a game that was broken off to whoever takes it next, this worker perhaps."""
        if self.bus is not None:
            path.unlink(missing_ok=True)


class _SaidKeeper:
    """Keeps what is said beside a record's file, which the moderator writes."""

    def __init__(self, file: SaidFile) -> None:
        self._file = file

    def recorded(self, events: Sequence[Recorded]) -> None:
        """Do nothing: they are in the record's file."""

    def keep(self, entries: Sequence[Entry]) -> None:
        """Keep what players say."""
        self._file.write(entries)

    def close(self) -> None:
        """Keep no more."""
        self._file.close()


class _Copy:
    """Keeps a game that is played on another bus on that of the agenda.

    Args:
        writer: writes there.
        house: the worker's.
        game: the game's id.
        earlier: what was played of it before.
    """

    def __init__(self, writer: BusWriter, house: str, game: str, earlier: EarlierPlay | None) -> None:
        self._writer = writer
        self._record, self._outbox = streams.record(house, game), streams.outbox(house, game)
        self._game = game
        if earlier is not None:
            self.recorded(earlier.record)
            self.keep(sorted(earlier.messages, key=lambda entry: parse_id(entry.id)))

    def recorded(self, events: Sequence[Recorded]) -> None:
        """Keep the events of a step."""
        self._append(self._record, [entry_of(recorded, self._game) for recorded in events])

    def keep(self, entries: Sequence[Entry]) -> None:
        """Keep what players say."""
        self._append(self._outbox, entries)

    def close(self) -> None:
        """Do nothing: what is on its way goes on."""

    def _append(self, stream: str, entries: Sequence[Entry]) -> None:
        # after the end of all games
        with contextlib.suppress(BusDown):
            self._writer.append(stream, entries)


@dataclass(frozen=True, slots=True)
class _NewFork:
    """A fork that can be played, or why not."""

    claimed: ClaimedGame
    ready: ReadyFork | WolfError


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
        self._halting: list[Game] = []
        self._news: queue.SimpleQueue[Game | WolfError | _NewFork | None] = queue.SimpleQueue()
        self._forks: ForkMaker | None = None
        self._halt: Halt | None = None
        self._open_house()

    def _open_house(self) -> None:
        settings = self._settings
        self._ending = False
        self._overtaken: list[str] = []
        self._house = EmbeddedHouse(
            settings.url,
            settings.new_house() if settings.new_house is not None else None,
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
                    self._house.renew_keys(HOUSE_KEPT_S)
                    next_renewal = time.monotonic() + self._lease_s / _RENEWALS
                self._take()
                self._process_news()
            self._break_off(self._halt.why if self._halt is not None else stopping.why or _OVERTAKEN)
            hasty = self._halt is not None or bool(self._playing)
            if not hasty:
                self._house.renew_keys(HOUSE_KEPT_S)
        finally:
            if hasty:
                self._house.abandon()
            self._house.close()
            if self._forks is not None:
                self._forks.close()
                self._forks = None
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
            path = self._settings.record(game)
            earlier = self._find_earlier(claimed, path)
            progress = earlier.progress if earlier is not None else 0
            if claimed.times >= DEATHS and progress <= claimed.progress:
                error = f"{DEATHS} workers died while they played it, and got it no further"
                self._agenda.finish(claimed, self._name, failed_result(game, error, 0.0))
                continue
            if (halted := self._halted(game)) is not None:
                self._agenda.finish(claimed, self._name, failed_result(game, halted, 0.0, "halted"))
                # the next are taken at once
                self.wake()
                continue
            self._playing[game.game] = claimed
            if earlier is None and (claimed.times or claimed.house):
                # of a worker that is gone; where that cannot be done, as on a full disk, --resume does it
                with contextlib.suppress(OSError):
                    set_aside(path)
            if earlier is None and game.fork is not None:
                self._make_fork(claimed)
            else:
                self._open(claimed, earlier)

    def _halted(self, game: PlannedGame) -> str | None:
        """Return why a game cannot be played for now: a model of it is asked no more; None if it can be."""
        return None if self._brain_context is None else self._brain_context.halted(game.brains)

    def _open(self, claimed: ClaimedGame, earlier: EarlierPlay | None) -> None:
        """Have a game played, from where it stands."""
        game = claimed.game
        path = self._settings.record(game)
        try:
            keeper = self._bus.keeper(self._name, game, path, earlier)
            self._house.open(
                self._settings.config, game.seed, game.brains, path, game.game, earlier=earlier, keeper=keeper
            )
        except WolfError as error:
            self._fail(game, error, 0.0)
            return
        # from here on whoever takes it next finds all of it in this house
        self._agenda.begin(claimed, self._name, earlier.progress if earlier is not None else 0)
        if claimed.house not in {"", self._name}:
            self._bus.expire(claimed.house, game.game)

    def _make_fork(self, claimed: ClaimedGame) -> None:
        """Make a fork ready in a thread of its own, for somebody may have to be asked what is said in it."""
        if self._forks is None:
            self._forks = ForkMaker(self._brain_context)
        game = claimed.game
        if game.fork is not None:
            self._forks.make_later(game.fork, game.game, lambda ready: self._news.put(_NewFork(claimed, ready)))

    def _begin_fork(self, claimed: ClaimedGame, ready: ReadyFork | WolfError) -> None:
        if isinstance(ready, WolfError):
            self._fail(claimed.game, ready, 0.0)
        elif ready.earlier is None:
            halted = self._halted(claimed.game)
            self._fail(claimed.game, WolfError(ready.refusal) if halted is None else ModelHalted(halted), 0.0)
        else:
            self._open(claimed, ready.earlier)

    def _find_earlier(self, claimed: ClaimedGame, path: Path) -> EarlierPlay | None:
        """Return what is left of a game that was broken off; None if it is to begin."""
        earlier = self._bus.find(claimed, path)
        game = claimed.game
        if earlier is None or self._house.is_same(earlier, self._settings.config, game.seed, game.brains, game.game):
            return earlier
        logger.warning("what is left of game %s is of another; it begins anew", game.game)
        return None

    def _process_news(self) -> None:
        """Process what has happened; wait a moment for something."""
        for news in drain(self._news, _POLL_S):
            if isinstance(news, Game):
                self._collect(news)
            elif isinstance(news, _NewFork):
                # one that was given up meanwhile is somebody else's
                if self._playing.get(news.claimed.game.game) is news.claimed:
                    self._begin_fork(news.claimed, news.ready)
            elif news is not None:
                self._give_up(news)
        for game in tuple(self._halting):
            self._collect_halted(game)

    def _collect(self, game: Game) -> None:
        """Report the result of a game that is over."""
        planned = self._playing[game.opened.game].game
        over = game.over
        if over is not None and isinstance(over.error, ModelHalted):
            self._halting.append(game)
            return
        if over is None or over.error is not None or over.ended is None:
            error = over.error if over is not None and over.error is not None else WolfError("it did not finish")
            self._fail(planned, error, game.seconds)
            return
        path = self._settings.record(planned)
        head = head_of(path)
        if not head:
            self._fail(planned, WolfError(f"{path}: the record is not whole"), game.seconds)
            return
        self._bus.upload(self._name, planned.game, path)
        self._finish(planned, ended_result(planned, game.counts, over.digest, over.ended.rounds, game.seconds, head))

    def _collect_halted(self, game: Game) -> None:
        """Report that a game halted, once nobody is asked anything of it, or all games are broken off."""
        name, over = game.opened.game, game.over
        asking = self._brain_context is not None and self._brain_context.is_asking(name)
        if over is not None and over.error is not None and (self._ending or not asking):
            self._halting.remove(game)
            self._fail(self._playing[name].game, over.error, game.seconds)

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
            halted = isinstance(error, ModelHalted)
            if halted:
                self._bus.leave(self._settings.record(game))
            self._finish(game, failed_result(game, str(error), seconds, "halted" if halted else "failed"))
            return
        claimed = self._playing.pop(game.game)
        self._bus.leave(self._settings.record(game))
        self._agenda.give_back(self._name, claimed.entry)

    def _give_up(self, reason: WolfError) -> None:
        if self._ending or self._overtaken:
            return
        # a game that another has taken is refused on the bus
        if not isinstance(reason, BusError) or self._renew():
            self._halt = self._halt or Halt(str(reason), isinstance(reason, BudgetSpent))

    def _fatal(self, reason: WolfError) -> None:
        # one game is over; those of other models go on
        if isinstance(reason, ModelHalted):
            self._house.halt(reason)
            return
        if isinstance(reason, GivenUp):
            self._house.end(reason, reason.game)
            return
        self._news.put(reason)
        self._house.leave(str(reason))

    def _break_off(self, reason: str) -> None:
        """Give back what is under way."""
        self._ending = True
        if self._playing:
            self._house.leave(reason)
        until = time.monotonic() + _BREAK_S
        while self._playing and time.monotonic() < until:
            self._process_news()
