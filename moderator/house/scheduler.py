"""`Scheduler`: the games of a session, from the wait for enough agents to each game's result."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from moderator.engine.context import GameOver, HouseContext
from moderator.engine.seating import Offer, opening, seat_agents, seat_brains
from moderator.house.games import Games
from moderator.house.lobby import Lobby
from moderator.house.session import Archives
from moderator.house.settings import AgendaItem, GameReport, ModeratorSettings
from moderator.house.waiting import (
    WaitingNotice,
    blocked_lines,
    brains_line,
    invitation,
    invitation_to_anybody,
    missing_brains,
    waiting_line,
)
from wolfbus.bus import streams
from wolfbus.errors import BusError, WolfError
from wolfbus.files.printable import counted
from wolfbus.messages.defaults import spoilt_in_words
from wolfbus.messages.events import Opened
from wolfbus.messages.house import Dropped, GameClosed, GameOpened
from wolfbus.service.session import game_id

logger = logging.getLogger(__name__)

GAVE_UP: Final = "the game could not go on"
"""All that agents are told of a game that failed; why may have to do with what they must not know."""


@dataclass(frozen=True, slots=True)
class RunningGame:
    """A game that is played now."""

    opened: Opened
    number: int


class Scheduler:
    """Begins games, takes them up again, and tells how they went. All methods are called from one thread.

    Args:
        settings: what the service was told.
        context: the house.
        games: moderates them.
        archives: what analytics has on disk, of the session.
        lobby: who is here, and who may have seats in a game of which nothing can be read.
        over: called with how a game left its moderator, from any thread.
        report: called with the result of every game.

    Attributes:
        running: games under way, by id.
        given_up: why no more games are begun before all are over; None while there is hope.
        interrupted: games that this moderator had under way before the bus went backwards, of which it is still to be
            seen what became of them.
    """

    def __init__(
        self,
        settings: ModeratorSettings,
        context: HouseContext,
        games: Games,
        archives: Archives,
        lobby: Lobby,
        over: Callable[[GameOver], None],
        report: Callable[[GameReport], None],
    ) -> None:
        self._settings = settings
        self._bus = context.bus
        self._house = context.name
        self._clock = context.clock
        self._games = games
        self._archives = archives
        self._session = archives.session
        self._lobby = lobby
        self._roster = lobby.roster
        self._over = over
        self._report = report
        self.running: dict[str, RunningGame] = {}
        self.given_up: str | None = None
        self.interrupted: tuple[str, ...] = ()
        self._blocked: set[str] = set()
        self._waiting = WaitingNotice(settings.wait_s)
        self._failing_since: float | None = None
        # it is taken up, and taken up again where the bus was away
        self._resuming: str | None = None
        self._pause_until = 0.0

    def resume_session(self) -> None:
        """Go on with the session where the last moderator stopped, or open a new one.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        session = self._session
        session.catch_up(self._bus, self._house)
        if session.running:
            self._archives.recall()
            session.find_missing()
            logger.info("session %s goes on, %s begun", session.name, counted(session.games, "game"))
        else:
            self._games.announce(session.open())
            logger.info("session %s opens", session.name)

    def resume_games(self) -> set[str]:
        """Go on with the session's open games; returns the names of the agents that play them.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        for game, number in sorted(self._session.under_way.items(), key=lambda item: item[1]):
            self.resume(game, number)
        playing = {seat.agent for game in self.running.values() for seat in game.opened.seats}
        for game in self.interrupted:
            if (closed := self._session.closed.get(game)) is not None:
                # it has ended, with its result untold
                self.resume(game, closed.number)
            elif game not in self._session.under_way:
                logger.warning("the bus has forgotten that this game was begun", extra={"game": game})
                dropped = Dropped(game=game, reason=GAVE_UP)
                names = self._lobby.everybody | playing
                self._games.tell([(agent, dropped) for agent in sorted(names)])
        self.interrupted = ()
        return playing

    @property
    def all_begun(self) -> bool:
        """Whether no more games are to begin."""
        if self._settings.agenda is not None:
            return self._settings.agenda.over or self.given_up is not None
        enough = self._settings.games is not None and self._session.games >= self._settings.games
        return (enough and not self._session.left_out) or self.given_up is not None

    def open_games(self) -> None:
        """Begin games as long as there are games to begin, and agents for them."""
        while not self.all_begun and len(self.running) < self._settings.at_once and self._clock() >= self._pause_until:
            if not self._open_next():
                return

    def _open_next(self) -> bool:
        item = self._next()
        if item is None:
            return False
        if self._has_ended(item.game):
            return True
        opened = item.opened
        if opened is None:
            agents = self._players_of(item.brains, item.seed)
            if not agents:
                return False
            players = [self._roster.player(agent) for agent in agents]
            opened = opening(self._settings.config, item.seed, players, item.game)
        self._waiting.end()
        self._failing_since = None
        self._roster.forget_failures()
        number = self._session.next_number
        if item.messages is not None:
            number = self._session.under_way.get(item.game, number)
            self._resuming = item.game
            self._session.begin(number, item.game)
            self.resume(item.game, number, item)
            self._resuming = None
            return True
        self._clear_earlier(item.game)
        self._session.begin(number, item.game)
        self._add_running(opened, number)
        playing = ", ".join(sorted({seat.agent for seat in opened.seats}))
        logger.info("game %d begins: %s", number, playing, extra={"game": item.game})
        self._games.open(opened, item.file, self._over, number)
        return True

    def _next(self) -> AgendaItem | None:
        """Return the game to begin next; None if all that were asked for are begun."""
        if self._settings.agenda is not None:
            return self._settings.agenda.next(self._is_begun)
        number = self._session.next_number
        return AgendaItem(game_id(self._session.name, number), self._settings.seed_of(number), None)

    def _players_of(self, brains: Sequence[str] | None, seed: str) -> Sequence[str]:
        """Return who takes the seats of the next game; nobody if somebody is missing.

        Args:
            brains: what is to play each of them; None for anything.
            seed: the game's.
        """
        now = self._clock()
        offers = self._roster.offers(now)
        if brains is None:
            seated = seat_agents(self._settings.config.seats, offers, seed)
        else:
            seated = seat_brains(brains, offers, self._brain_of, seed)
        agents = [agent for agent in seated if agent is not None]
        archivist = self._settings.archive and not self._roster.present(now, "analytics")
        if archivist or len(agents) < len(seated):
            # games under way will set agents free
            if not self.running:
                self._wait_for(brains, seated, offers, now, archivist=archivist)
            return ()
        if brains is None:
            blocked = blocked_lines(seated, offers)
            for agent in blocked.keys() - self._blocked:
                logger.warning("%s", blocked[agent], extra={"agent": agent})
            self._blocked = set(blocked)
        return agents

    def _wait_for(
        self,
        brains: Sequence[str] | None,
        seated: Sequence[str | None],
        offers: Mapping[str, Offer],
        now: float,
        *,
        archivist: bool,
    ) -> None:
        """Report what is waited for, and to who asked for these very games also how to bring it."""
        lagging, failures, url = self._roster.lagging(now), self._roster.failures(), self._bus.url
        if brains is None:
            line = waiting_line(seated, offers, lagging, failures, archivist=archivist)
            commands = invitation_to_anybody(url, self._house, seated.count(None))
        else:
            line = brains_line(brains, seated, offers, self._brain_of, lagging, failures)
            commands = invitation(url, self._house, missing_brains(brains, seated))
        if self._waiting.is_due(line, now):
            logger.info("%s", line)
            if self._settings.agenda is not None:
                self._settings.agenda.report_waiting(line + commands)
        missing = line.partition(": ")[2]
        if not failures or self._settings.games is None or self._settings.agenda is not None:
            self._failing_since = None
        elif self._failing_since is None:
            self._failing_since = now
        if self._failing_since is not None and now - self._failing_since >= self._settings.failed_wait_s:
            self.given_up = f"too few agents are here: {missing}"
        elif self._waiting.is_over(now):
            self.given_up = f"not enough agents came within {self._settings.wait_s:g} s: {missing}"
        if self.given_up is not None:
            logger.error("%s", self.given_up)

    def _brain_of(self, agent: str) -> str:
        return self._roster.player(agent).brain

    def _is_begun(self, game: str) -> bool:
        return game in self.running or (game in self._session.under_way and game != self._resuming)

    def _has_ended(self, game: str) -> bool:
        """Report the result of a game that ended before anybody heard of it; returns whether there is one."""
        closed = self._session.closed.get(game)
        if closed is None or closed.outcome != "ended":
            return False
        self.resume(game, closed.number)
        return True

    def _clear_earlier(self, game: str) -> None:
        """Forget what the bus holds of an earlier game of this id: one that failed, or was another study's."""
        if self._settings.agenda is not None:
            self._bus.expire(self._house, game, 0)
            self._session.settle(game)

    def release_records(self) -> None:
        """Let the bus forget records that are kept elsewhere; raises BusError."""
        if self._settings.agenda is not None:
            for game, closed in list(self._session.closed.items()):
                if self._settings.agenda.is_kept(game) and not self._archives.release(game, closed.hash):
                    self._session.settle(game)

    def _add_running(self, opened: Opened, number: int) -> None:
        self.running[opened.game] = RunningGame(opened, number)
        self._roster.seat(opened.game, (seat.agent for seat in opened.seats))

    def resume(self, game: str, number: int, item: AgendaItem | None = None) -> None:
        """Resume a game where its record ends; one that cannot be resumed has failed.

        Args:
            game: its id.
            number: its number in the session.
            item: what else is known of a game that was asked for.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        if game in self.running:
            return
        file, messages = (item.file, item.messages) if item is not None else (None, None)
        if item is not None:
            self._games.announce(GameOpened(game=game, number=number))
        try:
            opened = self._games.resume(game, self._over, number, file, messages)
        except BusError:
            raise
        except WolfError as error:
            if file is not None:
                file.close()
            self._finish(game, number, None, f"it cannot be taken up from its record: {error}")
            return
        logger.info("game %d goes on from its record", number, extra={"game": game})
        self._add_running(opened, number)

    def finish(self, over: GameOver) -> None:
        """Finish a game that is over, or could not go on.

        Raises:
            BusDown: the bus is away; this may be called again.
        """
        game = self.running[over.game]
        error = None if over.ended is not None else str(over.error or "it did not finish")
        self._finish(over.game, game.number, over, error)

    def _finish(self, name: str, number: int, over: GameOver | None, error: str | None) -> None:
        ended = over.ended if over is not None else None
        self._session.catch_up(self._bus, self._house)
        if error is not None and name in self._session.under_way:
            self.fail(name, number, error)
        game = self.running.pop(name, None)
        self._roster.unseat(name)
        self._pause_until = self._clock() + self._settings.pause_s
        result = GameReport(
            game=name,
            number=number,
            winner=ended.winner if ended else None,
            rounds=ended.rounds if ended else None,
            digest=over.digest if over is not None and ended else None,
            seconds=round(max(time.time() - game.opened.started, 0.0), 3) if game else 0.0,
            seed=game.opened.seed if game else None,
            error=error,
            over=over,
        )
        # who asked for a game says what came of it
        is_expected = error is None or self._settings.agenda is not None
        logger.log(logging.INFO if is_expected else logging.ERROR, "%s", result.line(), extra={"game": name})
        if result.spoilt:
            logger.warning("game %d %s", number, spoilt_in_words(result.spoilt), extra={"game": name})
        self._report(result)
        if self._settings.agenda is not None:
            self._settings.agenda.remove(name)

    def fail(self, game: str, number: int, error: str) -> None:
        """Tell, for a game that could not say so itself, that it failed; raises BusError."""
        playing = self.running.get(game)
        agents = {seat.agent for seat in playing.opened.seats} if playing else self._lobby.everybody
        dropped = Dropped(game=game, reason=GAVE_UP)
        head = self._bus.head(self._house, game)
        last = self._bus.last_id(streams.record(self._house, game)) if head else "0-0"
        lines = int(last.partition("-")[0])
        news = GameClosed(game=game, number=number, outcome="failed", lines=lines, hash=head, reason=error[:300])
        self._games.announce(news, [(agent, dropped) for agent in sorted(agents)])
