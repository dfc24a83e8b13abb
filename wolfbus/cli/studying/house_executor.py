"""A study's games, played by agents of houses that this process moderates: `HouseExecutor` has one house,
`MultiHouseExecutor` several, on one Redis, on a cluster or on several servers.

A game is safe once its record, read back from the bus, is whole in the study's folder. Until then the bus has it: a run
that is killed leaves games under way, and games that are over, to the next run, whose moderator takes them up.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Bus
from wolfbus.cli.studying.loading import HouseAddress
from wolfbus.cli.studying.results import fetch_result
from wolfbus.errors import BusError, WolfError, reason_of
from wolfbus.printable import counted, error_in_words
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import FinishedGame
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import KEPT_S, Halt, StudyNews

if TYPE_CHECKING:
    from moderator.house.session import HouseSession
    from moderator.house.settings import Agenda, GameReport, ModeratorSettings
    from wolfbus.study.folder import StudyFolder
    from wolfbus.study.plan import Plan
    from wolfbus.study.settings import StudySettings

_POLL_S: Final = 0.1
_RENEWED_S: Final = 0.05
"""A lease that lasts by so much longer than it could was renewed: its holder lives."""


class HouseExecutor:
    """Moderates a house and has its agents play; a `StudyExecutor`.

    Args:
        address: the house, and its bus, a Redis.
        plan: the study's games.
        study: the study's settings.
        folder: the study's; it notes the session that is opened, where none of earlier runs goes on.
        report: called with all that happens, from another thread.
        say: called with what is waited for, in one line, from another thread.
        tickets: whether the house's tickets say who an agent is.

    Attributes:
        started: ids of games that earlier runs of the study have left in the house, under way or over.

    Raises:
        WolfError: another moderates the house, or it is in the middle of other games.
        BusError: the bus cannot be reached.
    """

    def __init__(
        self,
        address: HouseAddress,
        plan: Plan,
        study: StudySettings,
        folder: StudyFolder,
        report: Callable[[StudyNews], None],
        say: Callable[[str], None],
        *,
        tickets: bool,
    ) -> None:
        from moderator.house.roster import count_tickets
        from moderator.house.settings import Agenda, ModeratorSettings

        url, house = address.url, address.name
        session, sessions = f"{plan.study}-{secrets.token_hex(4)}", folder.sessions()
        # noted before it can be opened, so that it is known for this study's whenever this run ends
        folder.note({"session": session})
        self._house = house
        self._config = plan.config
        self._folder = folder.path
        self._plan = plan
        self._last_number = study.games
        self._report = report
        self._stopping = Stopping()
        self._lock = threading.Lock()
        self._requested: dict[str, PlannedGame] = {}
        self._unrequested: dict[str, GameResult] = {}
        with contextlib.ExitStack() as stack:
            self._bus = stack.enter_context(contextlib.closing(open_bus(url)))
            _wait_until_free(self._bus, house)
            running = _running_session(self._bus, house, sessions)
            self.started = frozenset({*running.under_way, *running.closed} if running is not None else ())
            stack.pop_all()
        self._agenda: Agenda = Agenda(session, sessions, self._has_record, say)
        settings = ModeratorSettings(
            url,
            house,
            plan.config,
            games=None,
            seed=plan.seed,
            at_once=study.at_once,
            tickets=tickets,
            keep_s=KEPT_S,
            agenda=self._agenda,
        )
        if not tickets and (holders := count_tickets(url, house)):
            say(
                f"house {house} has {counted(holders, 'ticket')}, and this run does not go by them: "
                "who holds one, and never played here, is not heard, and who plays is each agent's "
                "own word; --tickets goes by them"
            )
        self._thread = threading.Thread(target=self._moderate, args=(settings,), name="moderator", daemon=True)
        self._thread.start()

    @property
    def under_way(self) -> int:
        """Games that the moderator has to leave in order before it ends."""
        return len(self._requested) if self._thread.is_alive() else 0

    @property
    def spent(self) -> None:
        """Nothing that this process knows of: the agents have budgets of their own."""

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Request games; the results of those that were over before are reported at once."""
        from moderator.house.settings import AgendaItem

        for planned in games:
            with self._lock:
                result = self._unrequested.pop(planned.game, None)
                if result is None:
                    self._requested[planned.game] = planned
                    self._agenda.add(AgendaItem(planned.game, planned.seed, planned.brains or None))
            if result is not None:
                self._report(result)

    def cancel(self, reason: str) -> None:
        """Leave all games where they are, to the run that resumes."""
        self._stopping.ask(reason)

    def close(self, *, hasty: bool) -> None:
        """Close the house, so that agents leave; in haste, leave it to the run that resumes."""
        self._agenda.close()
        if hasty:
            self._stopping.ask("the study is interrupted")
        self._thread.join()
        self._bus.close()

    def _moderate(self, settings: ModeratorSettings) -> None:
        from moderator.service import moderate
        from wolfbus.service.lifecycle import Health

        why = None
        try:
            term = moderate(settings, self._stopping, Health(None), self._collect)
            if term.outcome != "closed" or self._requested:
                why = term.reason
        except WolfError as error:
            why = str(error)
        except Exception as error:
            why = f"the moderator failed: {error_in_words(error)}"
            raise
        finally:
            if why is not None and not self._stopping.requested:
                self._report(Halt(why))

    # -- results

    def _planned(self, game: str) -> PlannedGame | None:
        """Return a game of the study by its id; None for a game of none."""
        number = game.rpartition("-")[2]
        if not number.isdecimal() or int(number) > self._last_number:
            return None
        return self._plan.game(int(number)) if self._plan.game_id(int(number)) == game else None

    def _collect(self, game: GameReport) -> None:
        """Collect the record and the result of a game that is over."""
        planned = self._planned(game.game)
        if planned is None:
            return
        finished = FinishedGame(planned.number, self._house, game.error, game.seconds)
        try:
            result = fetch_result(self._bus, planned, finished, self._folder, self._config)
        except BusError as error:
            # it is on the bus still, and the run that resumes finds it there
            self._report(Halt(str(error)))
            self._stopping.ask("the bus is away")
            return
        except OSError as error:
            self._report(Halt(f"{error.filename or self._folder}: {reason_of(error)}"))
            self._stopping.ask("the disk does not take it")
            return
        with self._lock:
            if self._requested.pop(planned.game, None) is None:
                self._unrequested[planned.game] = result
                return
        self._report(result)

    def _has_record(self, game: str) -> bool:
        planned = self._planned(game)
        return planned is not None and (self._folder / planned.record).exists()


def _wait_until_free(bus: Bus, house: str) -> None:
    """Return once nobody moderates a house; a moderator that was killed leaves it for some seconds.

    Raises:
        WolfError: somebody does.
    """
    first = bus.owner(house)
    began = time.monotonic()
    owner = first
    while owner.left_s > 0:
        could_last = first.left_s - (time.monotonic() - began)
        if owner.epoch != first.epoch or owner.left_s > could_last + _RENEWED_S + _POLL_S:
            raise WolfError(
                f"house {house} is moderated by {owner.holder} already: stop that moderator, or take another --house"
            )
        time.sleep(min(_POLL_S, owner.left_s))
        owner = bus.owner(house)


def _running_session(bus: Bus, house: str, sessions: Collection[str]) -> HouseSession | None:
    """Return the session that runs in a house if it is one of these; raises BusError."""
    from moderator.house.session import HouseSession

    if not sessions:
        return None
    session = HouseSession()
    session.catch_up(bus, house)
    return session if session.running and session.name in sessions else None


def is_left_open(address: HouseAddress, sessions: Collection[str]) -> bool:
    """Return whether a house is still in the middle of one of these sessions, as far as its bus can be asked."""
    try:
        with contextlib.closing(open_bus(address.url)) as bus:
            return _running_session(bus, address.name, sessions) is not None
    except BusError:
        return False


class MultiHouseExecutor:
    """Moderates several houses, each in a thread, and shares the games out among them; a `StudyExecutor`.

    A game belongs to one house from the moment it was requested there; the next one goes to whichever house has room,
    so that a slow house holds nobody up. Where a run of this study was killed, a game that a house has started stays
    with that house. A house that is lost keeps what was requested, to the run that resumes; the others play the rest.

    Args:
        addresses: the houses.
        plan: the study's games.
        study: the study's settings; as many games as it plays at once are played by each house.
        folder: the study's.
        news: takes all that happens.
        say: called with what is waited for, in one line, from other threads.
        tickets: whether tickets say who an agent is.

    Raises:
        WolfError: another moderates one of the houses, or it is in the middle of other games.
        BusError: a bus cannot be reached.
    """

    def __init__(
        self,
        addresses: Sequence[HouseAddress],
        plan: Plan,
        study: StudySettings,
        folder: StudyFolder,
        news: queue.SimpleQueue[StudyNews],
        say: Callable[[str], None],
        *,
        tickets: bool,
    ) -> None:
        self._news = news
        self._say = say
        # one game more than it plays at once waits at each house, so that none stands still while it is requested
        self._room = study.at_once + 1
        self._lock = threading.RLock()
        self._assigning = False
        self._unassigned: deque[PlannedGame] = deque()
        self._halted: dict[HouseAddress, str] = {}
        self._houses: dict[HouseAddress, HouseExecutor] = {}
        self._requested: dict[HouseAddress, set[str]] = {address: set() for address in addresses}
        with contextlib.ExitStack() as stack:
            for address in addresses:
                report, say_of = partial(self._process, address), partial(self._say_of, address)
                house = HouseExecutor(address, plan, study, folder, report, say_of, tickets=tickets)
                self._houses[address] = house
                stack.callback(house.close, hasty=True)
            stack.pop_all()

    @property
    def under_way(self) -> int:
        """Games that the moderators have to leave in order before they end."""
        return sum(house.under_way for house in self._houses.values())

    @property
    def spent(self) -> None:
        """Nothing that this process knows of: the agents have budgets of their own."""

    def submit(self, games: Iterable[PlannedGame]) -> None:
        """Have games played: those that a house has started by that house, the others wherever there is room."""
        with self._lock:
            for planned in games:
                houses = (address for address, house in self._houses.items() if planned.game in house.started)
                if (address := next(houses, None)) is None:
                    self._unassigned.append(planned)
                else:
                    self._request(address, planned)
        self._assign()

    def cancel(self, reason: str) -> None:
        """Leave all games where they are, to the run that resumes."""
        for house in self._houses.values():
            house.cancel(reason)

    def close(self, *, hasty: bool) -> None:
        """Close the houses, so that agents leave; in haste, leave them to the run that resumes."""
        with contextlib.ExitStack() as stack:
            for house in self._houses.values():
                stack.callback(house.close, hasty=hasty)

    def _request(self, address: HouseAddress, planned: PlannedGame) -> None:
        self._requested[address].add(planned.game)
        self._houses[address].submit([planned])

    def _playing(self) -> list[HouseAddress]:
        return [address for address in self._requested if address not in self._halted]

    def _assign(self) -> None:
        """Request games that no house has yet of houses that have room, the least busy one first."""
        with self._lock:
            # a house may report at once a game that was over before: what that makes room for is seen to below
            if self._assigning:
                return
            self._assigning = True
            try:
                while self._unassigned and (playing := self._playing()):
                    idlest = min(playing, key=lambda address: len(self._requested[address]))
                    if len(self._requested[idlest]) >= self._room:
                        break
                    self._request(idlest, self._unassigned.popleft())
            finally:
                self._assigning = False

    def _process(self, address: HouseAddress, news: StudyNews) -> None:
        """Process what a house reports; called by its moderator's thread."""
        with self._lock:
            if isinstance(news, Halt):
                self._halted[address] = f"house {address}: {news.why}"
                if len(self._halted) < len(self._houses):
                    self._say(f"{self._halted[address]}; the other houses play on")
            else:
                self._requested[address].discard(news.game)
                self._news.put(news)
        self._assign()
        self._halt_if_stuck()

    def _halt_if_stuck(self) -> None:
        """Report that no more can be played, once all that is left is with houses that are lost."""
        with self._lock:
            playing = self._playing()
            if not self._halted or any(self._requested[address] for address in playing):
                return
            left = len(self._unassigned) + sum(map(len, self._requested.values()))
            if left and not (playing and self._unassigned):
                self._news.put(Halt(f"{counted(left, 'game')} left with {'; '.join(self._halted.values())}"))

    def _say_of(self, address: HouseAddress, line: str) -> None:
        self._say(f"house {address}: {line}")
