"""What a moderator service is told, the games that are asked of it one by one, and what it tells of every game.

Without an `Agenda` a session has a number of games whose seats go to whoever is there; with one each game has its id,
its seed and the brains of its seats.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from moderator.engine.context import GameOver
from wolfbus.bus.protocol import Entry
from wolfbus.files.printable import counted
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import game_seed
from wolfbus.game.fresh import fresh_seed
from wolfbus.game.vocabulary import Winner
from wolfbus.messages.base import GameId, SeatName
from wolfbus.messages.events import Opened
from wolfbus.record.line import Recorded
from wolfbus.record.writer import RecordFile


@dataclass(frozen=True, slots=True)
class AgendaItem:
    """A game that is asked for.

    Attributes:
        game: its id.
        seed: its seed.
        brains: what is to play each seat, in seating order, as `Roster.brain` names agents; None
            seats whoever has joined.
        opened: its opening event, where agents of the moderator's own process play it; None where
            its seats are for agents that have joined.
        file: NDJSON record to write beside that on the bus; None for none.
        messages: what the agents of the moderator's own process have said in it, where the bus has a record with which
            it goes on; what the record accounts for may be among it. None for a game that begins.
    """

    game: GameId
    seed: str
    brains: tuple[str, ...] | None
    opened: Opened | None = None
    file: RecordFile | None = None
    messages: Sequence[Entry] | None = None


class Agenda:
    """The games that are asked for and not over, in the order in which they were asked for. Any thread may call it.

    Args:
        session: name of the session to open, where none of `own_sessions` goes on.
        own_sessions: names of sessions that were opened for these games before.
        is_kept: tells whether a game's record is safe, so that the bus may forget it.
        report_waiting: told what is waited for, in one line, now and then.
        agents: names of agents of the moderator's own process: they play without having joined.

    Attributes:
        changed: called whenever something is to be done at once; by the moderator's host, once
            there is one.
    """

    def __init__(
        self,
        session: str,
        own_sessions: Collection[str],
        is_kept: Callable[[str], bool],
        report_waiting: Callable[[str], None],
        agents: Collection[str] = (),
    ) -> None:
        self.session = session
        self.is_kept = is_kept
        self.report_waiting = report_waiting
        self.agents = frozenset(agents)
        self.changed: Callable[[], None] = lambda: None
        self._own_sessions = {session, *own_sessions}
        self._items: dict[str, AgendaItem] = {}
        self._closed = False
        self._lock = threading.Lock()

    def is_own(self, session: str) -> bool:
        """Return whether a session was opened for these games."""
        return session in self._own_sessions

    def add(self, item: AgendaItem) -> None:
        """Ask for one more game."""
        with self._lock:
            self._items[item.game] = item
        self.changed()

    def close(self) -> None:
        """Ask for no more; the house closes once all that was asked for is over."""
        with self._lock:
            self._closed = True
        self.changed()

    def remove(self, game: str) -> None:
        """Remove a game that is over, however it went."""
        with self._lock:
            self._items.pop(game, None)

    @property
    def over(self) -> bool:
        """Whether everything is played, and nothing more will be asked for."""
        with self._lock:
            return self._closed and not self._items

    def next(self, is_begun: Callable[[str], bool]) -> AgendaItem | None:
        """Return the first game that is not begun; None if all are."""
        with self._lock:
            return next((item for game, item in self._items.items() if not is_begun(game)), None)


FAILED_WAIT_S: Final = 20.0
"""Seconds for which the seats of agents that cannot play are waited for: enough to start one again."""

LONG_SEED: Final = 16
"""Characters from which on a seed counts as one that cannot be found by trying all."""

SHORT_SEED: Final = 32
"""Characters up to which a seed stands in a line for people; those that are drawn have as many."""


@dataclass(frozen=True, slots=True)
class ModeratorSettings:
    """What a moderator service is told.

    Attributes:
        url: the bus's address; a Redis.
        house: the house's name.
        config: the rules of its games.
        games: how many games a session has, >= 0; None for as many as come, until the service is stopped.
        seed: the session's seed, see `seed_of`; None gives every game a fresh one.
        wait_s: seconds without enough agents after which the house closes; None for ever.
        failed_wait_s: the same once agents have left that cannot play, for others may come in their place; nobody is
            given up that way where games go on for ever, or are asked for one by one.
        at_once: games under way at a time, > 0.
        archive: whether there must be an analytics service, and the house closes only when it has every record.
        tickets: whether only holders of a ticket may join.
        keep_s: seconds that a record stays on the bus after it was archived, >= 0; None for ever.
        lease_s: seconds after which another moderator may take over if this one is silent, >= 0; 0
            for a house that no other knows of.
        mailbox: entries that an agent's mailbox may hold at most, > 0.
        heartbeat_s: how often agents say that they are here, in seconds, > 0; housekeeping goes by it too.
        pause_s: seconds between the end of a game and the beginning of another, >= 0.
        agenda: the games that are wanted, in place of `games` and of seeds drawn from `seed`; None for any games. A
            house that is in the middle of other games is then refused.
        threads: threads that moderate games, > 0.
        full_s: see `moderator.engine.context.HouseContext`.
        landed: likewise.
        received: likewise.
    """

    url: str = field(repr=False)
    house: str = "main"
    config: GameConfig = field(default_factory=GameConfig)
    games: int | None = 1
    seed: str | None = None
    wait_s: float | None = None
    failed_wait_s: float = FAILED_WAIT_S
    at_once: int = 1
    archive: bool = False
    tickets: bool = False
    keep_s: float | None = 3600.0
    lease_s: float = 5.0
    mailbox: int = 10_000
    heartbeat_s: float = 5.0
    pause_s: float = 0.0
    agenda: Agenda | None = None
    threads: int = 2
    full_s: float | None = None
    landed: Callable[[GameId, Sequence[Recorded]], None] | None = field(default=None, repr=False)
    received: Callable[[GameId, Sequence[Entry]], None] | None = field(default=None, repr=False)

    def seed_of(self, number: int) -> str:
        """Return the seed of a session's game, from its number.

        Without a seed of the session's every game has a fresh one of its own, so that a moderator that comes back needs
        to know nothing, and nothing that others can read says what will be drawn. A session's only game has the
        session's seed itself, as the same game played by itself would; seeds are told when their games end, so of
        several games none can have it.
        """
        if self.seed is None:
            return fresh_seed()
        return self.seed if self.games == 1 else game_seed(self.seed, number)

    @property
    def local_agents(self) -> frozenset[str]:
        """Names of the agents of the moderator's own process."""
        return self.agenda.agents if self.agenda is not None else frozenset()

    @property
    def has_short_seed(self) -> bool:
        """Whether an agent could find the session's seed by trying all: names and every draw follow from it."""
        return self.seed is not None and len(self.seed) < LONG_SEED


@dataclass(frozen=True, slots=True)
class GameReport:
    """How a game went.

    Attributes:
        game: its id.
        number: its number in its session, from 1.
        winner: the side that won; None if neither did, or the game failed.
        rounds: rounds begun; None if the game failed.
        digest: its digest, 64 hex digits; None if the game failed.
        seconds: from its opening to its end, however many moderators it had.
        seed: its own seed, with which it can be played again alone; None if the game could not be taken up.
        error: why it failed; None if it did not.
        over: how it left its moderator; None if it could not be taken up.
    """

    game: GameId
    number: int
    winner: Winner
    rounds: int | None
    digest: str | None
    seconds: float
    seed: str | None = None
    error: str | None = None
    over: GameOver | None = field(default=None, repr=False)

    @property
    def spoilt(self) -> tuple[SeatName, ...]:
        """The seats of whose answers too many are defaults for want of a reply."""
        return self.over.ended.spoilt if self.over is not None and self.over.ended is not None else ()

    def as_json(self) -> dict[str, object]:
        """Return the result as plain values."""
        values = asdict(replace(self, over=None))
        del values["over"]
        return {**values, "spoilt": list(self.spoilt)}

    def line(self) -> str:
        """Return the result in words."""
        if self.error is not None:
            return f"game {self.number} failed after {self.seconds:.1f} s: {self.error}"
        ending = f"the {self.winner} won" if self.winner else "nobody won"
        rounds = counted(self.rounds or 0, "round")
        seed = self.seed or ""
        seed_text = f", seed {seed}" if 0 < len(seed) <= SHORT_SEED and seed.isprintable() else ""
        return f"game {self.number}: {ending} in {rounds}, {self.seconds:.1f} s{seed_text}, digest {self.digest}"
