"""A study's games, played elsewhere: by agents of a house that this process moderates, or by workers of an agenda.

A game is safe once its record, read back from the bus, is whole in the study's folder. Until then the bus has it: a run
that is killed leaves games under way, and games that are over, to the next run, whose moderator takes them up; or the
agenda and its workers.
"""

from __future__ import annotations

import contextlib
import queue
import secrets
import threading
import time
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from wolfbus.bus import open_bus
from wolfbus.bus.protocol import Bus
from wolfbus.cli.studying.reading import bring_home
from wolfbus.errors import BusError, WolfError, reason_of
from wolfbus.printable import counted
from wolfbus.service.lifecycle import Stopping
from wolfbus.study.agenda import Finished
from wolfbus.study.journal import GameResult, Spent
from wolfbus.study.plan import PlannedGame
from wolfbus.study.redis_agenda import RedisAgenda
from wolfbus.study.scheduler import KEPT_S, Halt, StudyNews

if TYPE_CHECKING:
    from moderator.house.session import HouseSession
    from moderator.house.settings import Agenda, ModeratorSettings
    from moderator.house.settings import GameReport as Told
    from players.llm.budget import Amount
    from players.llm.redis_budget import RedisBudget
    from wolfbus.cli.studying.loading import HouseAddress, LoadedStudy
    from wolfbus.study.folder import StudyFolder
    from wolfbus.study.plan import Plan
    from wolfbus.study.settings import StudySettings

_GLANCE_S: Final = 0.1
_RENEWED_S: Final = 0.05
"""A lease that lasts by so much longer than it could was renewed: its holder lives."""


class HousePlayers:
    """Moderates a house and has its agents play; a `StudyPlayers`.

    Args:
        address: the house, and its bus, a Redis.
        plan: the study's games.
        study: the study's settings.
        folder: the study's; it notes the session that is opened, where none of earlier runs goes on.
        tell: told all that happens, from another thread.
        say: told what is waited for, in one line, from another thread.
        tickets: whether the house's tickets say who is heard.

    Attributes:
        begun: ids of games that earlier runs of the study have left in the house, under way or over.

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
        tell: Callable[[StudyNews], None],
        say: Callable[[str], None],
        *,
        tickets: bool,
    ) -> None:
        from moderator.house.roster import count_tickets
        from moderator.house.settings import Agenda, ModeratorSettings

        url, house = address.url, address.name
        session, ours = f"{plan.study}-{secrets.token_hex(4)}", folder.sessions()
        # noted before it can be opened, so that it is known for ours whenever this run ends
        folder.note({"session": session})
        self._house = house
        self._config = plan.config
        self._folder = folder.path
        self._plan = plan
        self._games = study.games
        self._tell = tell
        self._stopping = Stopping()
        self._lock = threading.Lock()
        self._asked: dict[str, PlannedGame] = {}
        self._early: dict[str, GameResult] = {}
        with contextlib.ExitStack() as around:
            self._bus = around.enter_context(contextlib.closing(open_bus(url)))
            _wait_until_free(self._bus, house)
            self.begun = _begun_of(self._bus, house, ours)
            around.pop_all()
        self._agenda: Agenda = Agenda(session, ours, self._is_kept, say)
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
        return len(self._asked) if self._thread.is_alive() else 0

    @property
    def spent(self) -> None:
        """Nothing that this process knows of: the agents have budgets of their own."""

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Ask for games; of those that were over before, it is told."""
        from moderator.house.settings import AgendaItem

        for planned in games:
            with self._lock:
                early = self._early.pop(planned.game, None)
                if early is None:
                    self._asked[planned.game] = planned
                    self._agenda.add(AgendaItem(planned.game, planned.seed, planned.brains or None))
            if early is not None:
                self._tell(early)

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
        from wolfbus.service.lifecycle import Health

        why = None
        try:
            ended = moderate(settings, self._stopping, Health(None), self._take)
            if ended.outcome != "closed" or self._asked:
                why = ended.reason
        except WolfError as error:
            why = str(error)
        except Exception as error:
            why = f"the moderator failed: {type(error).__name__}: {error}"
            raise
        finally:
            if why is not None and not self._stopping.requested:
                self._halt(why)

    def _halt(self, why: str) -> None:
        self._tell(Halt(" ".join(why.split())))

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
        finished = Finished(planned.number, self._house, told.error, told.seconds)
        try:
            result = bring_home(self._bus, planned, finished, self._folder, self._config)
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
        self._tell(result)

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


def _session_of(bus: Bus, house: str, ours: Collection[str]) -> HouseSession | None:
    """Return the session that runs in a house if it is one of these; raises BusError."""
    from moderator.house.session import HouseSession

    if not ours:
        return None
    session = HouseSession()
    session.catch_up(bus, house)
    return session if session.running and session.name in ours else None


def _begun_of(bus: Bus, house: str, ours: Collection[str]) -> frozenset[str]:
    """Return ids of the games that one of these sessions has begun, where it goes on; raises BusError."""
    session = _session_of(bus, house, ours)
    return frozenset() if session is None else frozenset({*session.under_way, *session.closed})


def is_left_open(address: HouseAddress, ours: Collection[str]) -> bool:
    """Return whether a house is still in the middle of one of these sessions, as far as its bus can be asked."""
    try:
        with contextlib.closing(open_bus(address.url)) as bus:
            return _session_of(bus, address.name, ours) is not None
    except BusError:
        return False


_LOOK_S: Final = 0.2


class SharedPlayers:
    """Hands games to whoever takes them from the agenda; a `StudyPlayers`.

    Args:
        url: the bus; a Redis.
        name: the agenda's name.
        study: what is played.
        folder: the study's.
        before: what was spent before of the study's budget.
        news: where all that happens is told.

    Raises:
        ConfigError: the agenda is another study's.
        BusError: the bus cannot be reached.
    """

    def __init__(
        self,
        url: str,
        name: str,
        study: LoadedStudy,
        folder: Path,
        before: Amount,
        news: queue.SimpleQueue[StudyNews],
    ) -> None:
        self._folder = folder
        self._config = study.config
        self._news = news
        self._asked: dict[int, PlannedGame] = {}
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._budget: RedisBudget | None = None
        self._spent = before
        with contextlib.ExitStack() as around:
            self._bus = around.enter_context(contextlib.closing(open_bus(url)))
            self._agenda = around.enter_context(contextlib.closing(RedisAgenda(url, name)))
            usd, tokens = study.settings.budget, study.settings.budget_tokens
            has_budget = usd is not None or tokens is not None
            self._agenda.open(study.plan().study, study.text(), budget=has_budget)
            if has_budget:
                from players.llm.redis_budget import RedisBudget

                self._budget = around.enter_context(contextlib.closing(RedisBudget(url, name, usd, tokens)))
                self._spent = self._budget.open(before)
            self._around = around.pop_all()
        self._thread = threading.Thread(target=self._run, name="agenda", daemon=True)
        self._thread.start()

    @property
    def spent(self) -> Spent | None:
        """What workers have spent of the study's budget; None where there is none."""
        now = self._spent
        return None if self._budget is None else Spent(spent_usd=float(now.usd), spent_tokens=now.tokens)

    @property
    def under_way(self) -> int:
        """None that would have to be broken off."""
        return 0

    def post(self, games: Iterable[PlannedGame]) -> None:
        """Put games on the agenda; raises BusError."""
        asked = {game.number: game for game in games}
        with self._lock:
            self._asked |= asked
        self._agenda.post(asked)

    def end(self, reason: str) -> None:  # noqa: ARG002 - whoever resumes finds all on the agenda
        """Leave all games on the agenda, to the run that resumes."""
        self._ended.set()
        with self._lock:
            self._asked.clear()

    def close(self, *, hasty: bool) -> None:
        """Remove the agenda, so that its workers end; in haste, leave it to the run that resumes."""
        self._ended.set()
        self._thread.join()
        with self._around:
            if self._budget is not None:
                with contextlib.suppress(BusError):
                    self._spent, _ = self._budget.look()
            if not hasty:
                self._agenda.remove()
                if self._budget is not None:
                    self._budget.remove()

    def _run(self) -> None:
        try:
            self._look()
        except (WolfError, OSError) as error:
            self._news.put(Halt(" ".join(str(error).split())))
        except Exception as error:
            self._news.put(Halt(f"what was played cannot be taken in: {type(error).__name__}: {error}"))
            raise

    def _look(self) -> None:
        after = "0-0"
        while not self._ended.wait(_LOOK_S):
            for entry, finished in self._agenda.results(after):
                after = entry
                if not self._put_by(finished):
                    break
            if self._budget is not None:
                self._spent, why = self._budget.look()
                if why is not None:
                    self._news.put(Halt(why, budget=True))
                    return
            if not self._agenda.is_open:
                raise BusError("the agenda is gone: its Redis has lost its data, or somebody has removed it")

    def _put_by(self, finished: Finished) -> bool:
        """Bring a game's record home and report it; returns whether there is more to do."""
        with self._lock:
            planned = self._asked.get(finished.number)
        if planned is None:
            return not self._ended.is_set()
        result = bring_home(self._bus, planned, finished, self._folder, self._config)
        with self._lock:
            told = self._asked.pop(finished.number, None) is not None
        if told:
            self._bus.expire(finished.house, planned.game, KEPT_S)
            self._news.put(result)
        return not self._ended.is_set()
