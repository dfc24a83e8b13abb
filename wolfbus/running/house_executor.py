"""`HouseExecutor`: a study's games, played by agents of a house that this process moderates.

A game is safe once its record, read back from the bus, is whole in the study's folder. Until then the bus has it: a run
that is killed leaves games under way, and games that are over, to the next run, whose moderator takes them up.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from wolfbus.bus import open_bus
from wolfbus.errors import BusError, WolfError, reason_of
from wolfbus.files.printable import counted, error_in_words
from wolfbus.game.fresh import fresh_name
from wolfbus.running.results import failed_result, fetch_record
from wolfbus.service.lifecycle import Stopping
from wolfbus.service.plan import check_free
from wolfbus.study.journal import GameResult
from wolfbus.study.plan import PlannedGame
from wolfbus.study.scheduler import KEPT_S, Halt, StudyExecutor, StudyNews

if TYPE_CHECKING:
    from moderator.house.settings import Agenda, GameReport, ModeratorSettings
    from wolfbus.study.folder import StudyFolder
    from wolfbus.study.plan import Plan
    from wolfbus.study.settings import StudySettings


class HouseExecutor(StudyExecutor):
    """Moderates a house and has its agents play, whose calls and budgets are their own.

    Games that are under way are left where they are, and the run that resumes goes on with them.

    Args:
        url: the house's bus, a Redis.
        house: its name.
        plan: the study's games.
        study: the study's settings.
        folder: the study's; it notes the session that is opened, where none of earlier runs goes on.
        news: takes all that happens.
        say: called with what is waited for, in one line, from another thread.
        tickets: whether the house's tickets say who an agent is.

    Raises:
        WolfError: another moderates the house, or it is in the middle of other games.
        BusError: the bus cannot be reached.
    """

    def __init__(
        self,
        url: str,
        house: str,
        plan: Plan,
        study: StudySettings,
        folder: StudyFolder,
        news: queue.Queue[StudyNews],
        say: Callable[[str], None],
        *,
        tickets: bool,
    ) -> None:
        from moderator.house.roster import count_tickets
        from moderator.house.settings import Agenda, ModeratorSettings

        session, sessions = fresh_name(plan.study), folder.sessions()
        # noted before it can be opened, so that it is known for this study's whenever this run ends
        folder.note({"session": session})
        self._house = house
        self._config = plan.config
        self._folder = folder.path
        self._plan = plan
        self._last_number = study.games
        self._news = news
        self._stopping = Stopping()
        self._lock = threading.Lock()
        self._requested: dict[str, PlannedGame] = {}
        self._unrequested: dict[str, GameResult] = {}
        self._bus = open_bus(url)
        try:
            check_free(self._bus, house, self._stopping)
        except BaseException:
            self._bus.close()
            raise
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
                self._news.put(result)

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
                self._news.put(Halt(why))

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
        try:
            result = fetch_record(self._bus, planned, self._house, self._folder, self._config)
        except BusError as error:
            # it is on the bus still, and the run that resumes finds it there
            self._news.put(Halt(str(error)))
            self._stopping.ask("the bus is away")
            return
        except OSError as error:
            self._news.put(Halt(f"{error.filename or self._folder}: {reason_of(error)}"))
            self._stopping.ask("the disk does not take it")
            return
        if not isinstance(result, GameResult):
            why = game.error or f"what the bus holds of its record is not whole, or not of this game: {result}"
            result = failed_result(planned, why, game.seconds)
        with self._lock:
            if self._requested.pop(planned.game, None) is None:
                self._unrequested[planned.game] = result
                return
        self._news.put(result)

    def _has_record(self, game: str) -> bool:
        planned = self._planned(game)
        return planned is not None and (self._folder / planned.record).exists()


def is_left_open(url: str, house: str, sessions: Collection[str]) -> bool:
    """Return whether a house is still in the middle of one of these sessions, as far as its bus can be asked."""
    from moderator.house.session import HouseSession

    if not sessions:
        return False
    session = HouseSession()
    try:
        with contextlib.closing(open_bus(url)) as bus:
            session.catch_up(bus, house)
    except BusError:
        return False
    return session.running and session.name in sessions
