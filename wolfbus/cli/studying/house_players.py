"""`HousePlayers`: a study's games, played by agents that have joined a Redis house which this process moderates.

A game is safe once its record, read back from the bus, is whole in the study's folder. Until then the bus has it: a run
that is killed leaves games under way, and games that are over, to the next run, whose moderator takes them up.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Final

from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Bus
from wolfbus.cli.studying.news import KEPT_S, Done, Halt, StudyNews
from wolfbus.cli.studying.reading import PlayedElsewhere, bring_home
from wolfbus.errors import BusError, WolfError, reason_of
from wolfbus.printable import counted
from wolfbus.service.stop import Stopping
from wolfbus.study.plan import PlannedGame
from wolfbus.study.result import GameResult

if TYPE_CHECKING:
    from moderator.house.settings import Agenda, ModeratorSettings
    from moderator.house.settings import GameReport as Told
    from wolfbus.cli.studying.folder import StudyFolder
    from wolfbus.cli.studying.options import RunOptions
    from wolfbus.study.plan import Plan
    from wolfbus.study.settings import StudySettings

_GLANCE_S: Final = 0.1
_RENEWED_S: Final = 0.05
"""A lease that lasts by so much longer than it could was renewed: its holder lives."""


class HousePlayers:
    """Moderates a house and has its agents play; a `StudyPlayers`.

    Args:
        options: the bus, a Redis; the house on it; and whether its tickets say who is heard.
        plan: the study's games.
        study: the study's settings.
        folder: the study's; it notes the session that is opened, where none of earlier runs goes on.
        news: where all that happens is told.
        say: told what is waited for, in one line, from another thread.

    Raises:
        WolfError: another moderates the house, or it is in the middle of other games.
        BusError: the bus cannot be reached.
    """

    def __init__(
        self,
        options: RunOptions,
        plan: Plan,
        study: StudySettings,
        folder: StudyFolder,
        news: queue.SimpleQueue[StudyNews],
        say: Callable[[str], None],
    ) -> None:
        from moderator.house.settings import Agenda, ModeratorSettings

        url, house = options.url, options.house or ""
        session, ours = f"{plan.study}-{secrets.token_hex(4)}", folder.sessions()
        # noted before it can be opened, so that it is known for ours whenever this run ends
        folder.note({"session": session})
        self._house = house
        self._config = plan.config
        self._folder = folder.path
        self._plan = plan
        self._games = study.games
        self._news = news
        self._stopping = Stopping()
        self._lock = threading.Lock()
        self._asked: dict[str, PlannedGame] = {}
        self._early: dict[str, GameResult] = {}
        self._bus = open_bus(url)
        try:
            _wait_until_free(self._bus, house)
        except BaseException:
            self._bus.close()
            raise
        self._agenda: Agenda = Agenda(session, ours, self._is_kept, say)
        settings = ModeratorSettings(
            url,
            house,
            plan.config,
            games=None,
            seed=plan.seed,
            at_once=study.at_once,
            tickets=options.tickets,
            keep_s=KEPT_S,
            agenda=self._agenda,
        )
        if not options.tickets and (holders := _holders(url, house)):
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
        return len(self._asked) if self._thread.is_alive() else 0

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Ask for games; of those that were over before, it is told."""
        from moderator.house.settings import AgendaItem

        for planned in games:
            with self._lock:
                early = self._early.pop(planned.game, None)
                if early is None:
                    self._asked[planned.game] = planned
                    self._agenda.ask(AgendaItem(planned.game, planned.seed, planned.brains or None))
            if early is not None:
                self._news.put(Done(early))

    def end(self, reason: str) -> None:
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
        from wolfbus.service.health import Health

        why = None
        try:
            ended = moderate(settings, self._stopping, Health(None), self._take)
            if ended.how != "closed" or self._asked:
                why = ended.reason
        except WolfError as error:
            why = str(error)
        except Exception as error:
            why = f"the moderator failed: {type(error).__name__}: {error}"
            raise
        finally:
            if why is not None and not self._stopping.asked:
                self._halt(why)

    def _halt(self, why: str) -> None:
        self._news.put(Halt(" ".join(why.split())))

    # -- what comes of games

    def _planned(self, game: str) -> PlannedGame | None:
        """Return a game of the study by its id; None for a game of none."""
        number = game.rpartition("-")[2]
        if not number.isdecimal() or int(number) > self._games:
            return None
        return self._plan.game(int(number)) if self._plan.game_id(int(number)) == game else None

    def _take(self, told: Told) -> None:
        """Take in how a game went, with its record."""
        planned = self._planned(told.game)
        if planned is None:
            return
        played = PlayedElsewhere(planned, self._house, told.error, told.seconds)
        try:
            result = bring_home(self._bus, played, self._folder, self._config)
        except BusError as error:
            # it is on the bus still, and the run that resumes finds it there
            self._halt(str(error))
            self._stopping.ask("the bus is away")
            return
        except OSError as error:
            self._halt(f"{error.filename or self._folder}: {reason_of(error)}")
            self._stopping.ask("the disk does not take it")
            return
        with self._lock:
            if self._asked.pop(planned.game, None) is None:
                self._early[planned.game] = result
                return
        self._news.put(Done(result))

    def _is_kept(self, game: str) -> bool:
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
        if owner.epoch != first.epoch or owner.left_s > could_last + _RENEWED_S + _GLANCE_S:
            raise WolfError(
                f"house {house} is moderated by {owner.holder} already: stop that moderator, or take another --house"
            )
        time.sleep(min(_GLANCE_S, owner.left_s))
        owner = bus.owner(house)


def _holders(url: str, house: str) -> int:
    """Return how many tickets a house has, as far as may be asked."""
    from moderator.house.roster import Tickets

    try:
        with contextlib.closing(Tickets(url, house)) as tickets:
            return len(tickets.read())
    except BusError:
        return 0


def is_left_open(url: str, house: str, ours: Collection[str]) -> bool:
    """Return whether a house is still in the middle of one of these sessions, as far as its bus can be asked."""
    from moderator.house.session import HouseSession

    if not ours:
        return False
    session = HouseSession()
    try:
        with contextlib.closing(open_bus(url)) as bus:
            session.catch_up(bus, house)
    except BusError:
        return False
    return session.running and session.name in ours
