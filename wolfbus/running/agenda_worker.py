"""`AgendaWorker`: takes games from an agenda and plays them in a house of this process; the same for any agenda."""

from __future__ import annotations

import contextlib
import errno
import logging
import queue
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wolfbus.errors import BudgetSpent, BusError, ConfigError, GivenUp, ModelHalted, WolfError
from wolfbus.game.config import GameConfig
from wolfbus.running.agenda_bus import AgendaBus
from wolfbus.running.earlier import EarlierPlay
from wolfbus.running.house import EmbeddedHouse, Game
from wolfbus.running.results import ended_result, failed_result, head_of
from wolfbus.service.lifecycle import drain
from wolfbus.service.outage import AWAY, PAUSE_S, OutageNotice
from wolfbus.study.agenda import AGENDA_GONE, HOUSE_KEPT_S, ClaimedGame, StudyAgenda
from wolfbus.study.folder import set_aside
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import KEPT_S, Halt

if TYPE_CHECKING:
    from players.spec import BrainContext
    from wolfbus.running.forking import ForkMaker, ReadyFork
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
_GONE_S: Final = 10.0
"""Seconds in which whoever runs the study may put an agenda on again that its Redis has lost."""
_OVERTAKEN: Final = "another worker plays it"


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """How games are played.

    Attributes:
        url: the bus.
        config: the rules.
        folder: the study's, where records are written.
        at_once: games under way at a time, > 0.
        keep_s: seconds that the record of a game that is over stays on a Redis: for spectators, since the file is the
            record; None for ever.
        new_house: returns the name of the next house in which this worker plays; None for any.
    """

    url: str = field(repr=False)
    config: GameConfig
    folder: Path
    at_once: int = 16
    keep_s: float | None = KEPT_S
    new_house: Callable[[], str] | None = None

    def record(self, game: PlannedGame) -> Path:
        """Return where a game's record is written."""
        return self.folder / game.record


@dataclass(frozen=True, slots=True)
class _NewFork:
    """A fork that can be played, or why not."""

    claimed: ClaimedGame
    ready: ReadyFork | WolfError


class AgendaWorker:
    """Plays the games that it takes from an agenda, and reports their results.

    The bus of a shared agenda is waited for, for as long as it takes, and so is the nearer one that games are played
    on: their Redis may be out of room, out of reach or started anew. What was played goes on from what the bus has of
    it. Where the agenda is this run's alone, the run ends instead, and goes on with --resume.

    Args:
        agenda: where games are.
        settings: how it plays.
        brain_context: what the brains share; None for a fresh one.
        bus: the agenda's bus.
        lease_s: seconds after which the agenda takes a silent worker for dead, > 0.

    Attributes:
        halts: how many games halted here, or were passed on to other workers, by why.

    Raises:
        WolfError: the bus cannot be used.
    """

    def __init__(
        self,
        agenda: StudyAgenda,
        settings: WorkerSettings,
        brain_context: BrainContext | None,
        bus: AgendaBus = AgendaBus(),  # noqa: B008 - frozen
        lease_s: float = 15.0,
    ) -> None:
        self._agenda = agenda
        self._settings = settings
        self._brain_context = brain_context
        self._bus = bus
        self._lease_s = lease_s
        self._playing: dict[str, ClaimedGame] = {}
        self._halting: list[Game] = []
        self._news: queue.Queue[Game | WolfError | _NewFork | None] = queue.Queue()
        self._unprocessed: deque[Game | WolfError | _NewFork | None] = deque()
        self._forks: ForkMaker | None = None
        self._halt: Halt | None = None
        self._notice = OutageNotice(logger.warning)
        self._unreturned: list[tuple[str, str]] = []
        self._unnoted: list[tuple[ClaimedGame, int]] = []
        self._halted_entries: set[str] = set()
        self._next_renewal = 0.0
        self.halts: Counter[str] = Counter()
        self._open_house()

    def _open_house(self) -> EmbeddedHouse:
        settings = self._settings
        self._ending = False
        self._has_lost_bus = False
        self._overtaken: dict[str, str] = {}
        # what is left there is of games of an earlier house
        self._news = queue.Queue()
        self._unprocessed.clear()
        self._house = EmbeddedHouse(
            settings.url,
            settings.new_house() if settings.new_house is not None else None,
            brain_context=self._brain_context,
            done=self._news.put,
            keep_s=settings.keep_s,
        )
        self._name = self._house.name
        if self._brain_context is not None:
            self._brain_context.fatal = self._fatal
        return self._house

    def wake(self) -> None:
        """Have a look at the agenda now; any thread may call it."""
        self._news.put(None)

    def play(self, stopping: Stopping) -> Halt | None:
        """Play until the agenda is closed, somebody asks to stop, or no more can be played.

        Returns:
            Why no more can be played; None otherwise.
        """
        self._play(stopping)
        # of its house the bus may have forgotten what others play now
        while self._can_go_on(stopping) and self._notice.wait_for(self._open_house, stopping) is not None:
            self._play(stopping)
        return self._halt

    def _play(self, stopping: Stopping) -> None:
        """Play in one house."""
        self._next_renewal = time.monotonic()
        hasty = True
        try:
            self._take_and_report(stopping)
            is_reached = self._break_off(self._halt.why if self._halt is not None else stopping.why or _OVERTAKEN)
            hasty = self._halt is not None or self._has_lost_bus or bool(self._playing)
            if not hasty:
                # where its bus is away, what was kept there until then goes in time by itself
                with contextlib.suppress(BusError):
                    self._house.renew_keys(HOUSE_KEPT_S)
        finally:
            if hasty:
                self._house.abandon()
            self._house.close()
            if self._forks is not None:
                self._forks.close()
                self._forks = None
        if is_reached:
            self._leave()
        self._unreturned += [(self._name, claimed.entry) for claimed in self._playing.values()]
        self._playing.clear()
        self._halting.clear()

    def _take_and_report(self, stopping: Stopping) -> None:
        """Take games and report their results until this house can play no more of them, or nobody wants more."""
        while not (stopping.requested or self._halt or self._overtaken or self._has_lost_bus):
            try:
                if not self._step():
                    return
                self._notice.back()
            except AWAY as error:
                if not self._bus.is_shared:
                    raise
                # its games go on as long as their own house can
                self._notice.away(error)
                self._next_renewal = 0.0
                stopping.wait(PAUSE_S)

    def _step(self) -> bool:
        """Take and report once; returns whether there may be more to play."""
        if not self._playing and not self._agenda.is_open:
            return False
        if time.monotonic() >= self._next_renewal:
            if not (self._is_bus_there() and self._renew()):
                return False
            self._house.renew_keys(HOUSE_KEPT_S)
            self._next_renewal = time.monotonic() + self._lease_s / _RENEWALS
        self._return()
        self._note_begun()
        self._take()
        self._process_news()
        return True

    def _is_bus_there(self) -> bool:
        """Return whether the bus that this house plays on serves; the house is given up if not."""
        try:
            self._bus.check(self._name)
        except BusError as error:
            self._give_up(error)
            return False
        return True

    def _can_go_on(self, stopping: Stopping) -> bool:
        """Return whether to play on in another house, once the bus and the agenda are there for it."""
        for game, holder in self._overtaken.items():
            if holder:
                silent = f"this one was silent for longer than its lease of {self._lease_s:g} s"
                logger.warning("another worker has taken %s, for %s; it goes on with the next", game, silent)
            else:
                logger.warning("%s is on the agenda no more: it is over, or its Redis has lost it", game)
        gone_since: float | None = None
        while self._halt is None and not stopping.requested:
            try:
                if self._agenda.is_over:
                    return False
                if self._agenda.is_back():
                    self._bus.check(self._name)
                    self._return()
                    self._notice.back()
                    return True
            except AWAY as error:
                self._notice.away(error)
            except ConfigError as error:
                self._halt = Halt(str(error))
            else:
                gone_since = time.monotonic() if gone_since is None else gone_since
                if time.monotonic() - gone_since >= _GONE_S:
                    self._halt = Halt(AGENDA_GONE)
            stopping.wait(PAUSE_S)
        return False

    def _return(self) -> None:
        """Give back what could not be given back when it was to be."""
        while self._unreturned:
            self._agenda.give_back(*self._unreturned[0])
            del self._unreturned[0]

    def _renew(self) -> bool:
        """Renew the lease; returns whether all that this worker plays is still its own."""
        lost = self._agenda.renew(self._name, [claimed.entry for claimed in self._playing.values()])
        self._overtaken |= {
            game: lost[claimed.entry] for game, claimed in self._playing.items() if claimed.entry in lost
        }
        return not self._overtaken

    def _take(self) -> None:
        room = self._settings.at_once - len(self._playing)
        unbegun = deque(self._agenda.take(self._name, room) if room else ())
        try:
            while unbegun:
                # silent for so long that it was thought dead, it may be quick enough to take what it plays
                if unbegun[0].game.game not in self._playing:
                    self._begin(unbegun[0])
                unbegun.popleft()
        except AWAY:
            playing = self._playing
            self._unreturned += [(self._name, claimed.entry) for claimed in unbegun if claimed.game.game not in playing]
            raise

    def _begin(self, claimed: ClaimedGame) -> None:
        """Have a game played that was taken, unless it is clear what comes of it."""
        game = claimed.game
        if (halted := self._halted(game)) is not None:
            self._halt_game(claimed, failed_result(game, halted, 0.0, "halted"))
            # the next are taken at once
            self.wake()
            return
        path = self._settings.record(game)
        earlier = self._find_earlier(claimed, path)
        progress = earlier.progress if earlier is not None else 0
        if claimed.times >= DEATHS and progress <= claimed.progress:
            error = f"{DEATHS} workers died while they played it, and got it no further"
            self._agenda.finish(claimed, self._name, failed_result(game, error, 0.0))
            return
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
        keeper = None
        try:
            keeper = self._bus.keeper(self._name, game, path, earlier)
            self._house.open(
                self._settings.config, game.seed, game.brains, path, game.game, earlier=earlier, keeper=keeper
            )
        except WolfError as error:
            if keeper is not None:
                keeper.close()
            self._fail(game, error, 0.0)
            return
        self._unnoted.append((claimed, earlier.progress if earlier is not None else 0))
        self._note_begun()

    def _note_begun(self) -> None:
        """Note which games are played here: from then on whoever takes one next finds all of it in this house. What the
        bus keeps from being noted is noted later.
        """
        while self._unnoted:
            claimed, progress = self._unnoted[0]
            if self._playing.get(claimed.game.game) is claimed:
                self._agenda.begin(claimed, self._name, progress)
                if claimed.house not in {"", self._name}:
                    self._bus.expire(claimed.house, claimed.game.game)
            del self._unnoted[0]

    def _make_fork(self, claimed: ClaimedGame) -> None:
        """Make a fork ready in a thread of its own, for somebody may have to be asked what is said in it."""
        if self._forks is None:
            from wolfbus.running.forking import ForkMaker

            self._forks = ForkMaker(self._brain_context)
        game = claimed.game
        if game.fork is not None:
            self._forks.make_later(
                game.fork, game.game, game.brains, lambda ready: self._news.put(_NewFork(claimed, ready))
            )

    def _begin_fork(self, claimed: ClaimedGame, ready: ReadyFork | WolfError) -> None:
        if isinstance(ready, WolfError):
            self._fail(claimed.game, ready, 0.0)
        elif ready.earlier is None:
            self._fail(claimed.game, WolfError(ready.refusal), 0.0)
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
        """Process what has happened; wait a moment for something. What the bus keeps from being reported is kept."""
        self._unprocessed.extend(drain(self._news, 0.0 if self._unprocessed else _POLL_S))
        while self._unprocessed:
            self._process(self._unprocessed[0])
            self._unprocessed.popleft()
        for game in tuple(self._halting):
            self._collect_halted(game)

    def _process(self, news: Game | WolfError | _NewFork | None) -> None:
        if isinstance(news, Game):
            self._collect(news)
        elif isinstance(news, _NewFork):
            # one that was given up meanwhile is somebody else's
            if self._playing.get(news.claimed.game.game) is news.claimed:
                self._begin_fork(news.claimed, news.ready)
        elif news is not None:
            self._give_up(news)

    def _collect(self, game: Game) -> None:
        """Report the result of a game that is over."""
        planned = self._playing[game.opened.game].game
        try:
            ended, digest = game.outcome()
        except ModelHalted:
            self._halting.append(game)
            return
        except WolfError as error:
            self._fail(planned, error, game.seconds)
            return
        path = self._settings.record(planned)
        head = head_of(path)
        if not head:
            self._fail(planned, WolfError(f"{path}: the record is not whole"), game.seconds)
            return
        try:
            self._bus.upload(self._name, planned.game, path)
        except AWAY:
            raise
        except BusError as error:
            # it may have lost what it had of this record, and the agenda with it
            self._fail(planned, error, game.seconds)
            return
        self._finish(planned, ended_result(planned, game.counts, digest, ended.rounds, game.seconds, head))

    def _collect_halted(self, game: Game) -> None:
        """Report that a game halted, once nobody is asked anything of it, or all games are broken off."""
        name, over = game.opened.game, game.over
        asking = self._brain_context is not None and self._brain_context.is_asking(name)
        if over is not None and over.error is not None and (self._ending or not asking):
            self._fail(self._playing[name].game, over.error, game.seconds)
            self._halting.remove(game)

    def _finish(self, game: PlannedGame, result: GameResult) -> None:
        claimed = self._playing[game.game]
        if not self._agenda.finish(claimed, self._name, result):
            logger.info("another worker was first", extra={"game": game.game})
            self._bus.expire(self._name, game.game)
        self._bus.leave(self._settings.record(game))
        del self._playing[game.game]

    def _halt_game(self, claimed: ClaimedGame, result: GameResult) -> None:
        """Report that a game halted, unless another worker may have what is lacking here, such as credits."""
        if not (self._bus.is_shared and self._agenda.pass_on(self._name, claimed)):
            self._agenda.finish(claimed, self._name, result)
        if claimed.entry not in self._halted_entries:
            self._halted_entries.add(claimed.entry)
            self.halts[result.error or ""] += 1

    def _fail(self, game: PlannedGame, error: WolfError, seconds: float) -> None:
        """Report that a game failed; or leave it to others, if that is no fault of its own."""
        cause = error.__context__
        no_room = isinstance(cause, OSError) and cause.errno in _NO_ROOM
        if isinstance(error, BusError | BudgetSpent) or no_room or self._house.is_over:
            self._give_up(error)
        claimed = self._playing[game.game]
        if self._ending or self._overtaken or self._halt or self._has_lost_bus:
            self._agenda.give_back(self._name, claimed.entry)
        elif isinstance(error, ModelHalted):
            self._halt_game(claimed, failed_result(game, str(error), seconds, "halted"))
        else:
            self._finish(game, failed_result(game, str(error), seconds))
            return
        self._bus.leave(self._settings.record(game))
        del self._playing[game.game]

    def _give_up(self, reason: WolfError) -> None:
        if self._ending or self._overtaken or self._has_lost_bus:
            return
        # a game that another has taken, or that its Redis has lost, is refused on the bus
        if isinstance(reason, BusError):
            try:
                if not self._renew():
                    return
            except AWAY as error:
                reason = error
            if isinstance(reason, AWAY) and self._bus.is_shared:
                self._has_lost_bus = True
                self._notice.away(reason)
                return
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

    def _break_off(self, reason: str) -> bool:
        """Give back what is under way; returns whether the agenda could be reached for it."""
        self._ending = True
        if self._playing:
            self._house.leave(reason)
        until = time.monotonic() + _BREAK_S
        try:
            while self._playing and time.monotonic() < until:
                self._process_news()
        except AWAY:
            return False
        return True

    def _leave(self) -> None:
        """Give back games that took longer than that to be broken off, and be no more counted among those who play."""
        with contextlib.suppress(BusError):
            if self._playing:
                self._process_news()
            self._agenda.leave(self._name)
