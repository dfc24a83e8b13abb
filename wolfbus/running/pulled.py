"""`Env`: games that whoever plays pulls: it asks for the next question, answers it when it likes, and is told the end.

The game is the one that `wolfbus.play` plays, with the same record and digest; only that learners' seats answer by
`Env.step` instead of by a method of theirs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from players.program.protocol import ask_message, bye_message
from players.spec import expand, renamed
from players.text import TextReader
from wolfbus.actors.closable import Closable
from wolfbus.agent import Agent, Answer
from wolfbus.agent.answer import AnswerLike, answer_of
from wolfbus.errors import ConfigError, PlayerError, WolfError
from wolfbus.game.config import Deadlines, GameConfig
from wolfbus.game.fresh import fresh_id, seed_of
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import KINDS, Kind
from wolfbus.knowledge.view import SeatView
from wolfbus.messages.requests import Ask
from wolfbus.record.line import Recorded
from wolfbus.running.brains import loaded_from, open_brain_context
from wolfbus.running.house import EmbeddedHouse, Game
from wolfbus.running.play import PlayedGame, PlayersOf, brains_of, result_of

if TYPE_CHECKING:
    from players.spec import BrainContext

_Brain = TypeVar("_Brain")

LEARNER: Final = "learner"
"""The item of a players spec that seats whoever pulls."""
_SPEC: Final = "wolfbus.env:Learner"
"""What records call such a seat's brain."""
_PATIENT: Final = Deadlines(**dict.fromkeys(KINDS, 86_400.0))
"""Whoever trains may take a day for an answer; deadlines are no part of a game's digest."""


@dataclass(eq=False)
class Turn:
    """What one learner's seat is asked now, or, last of all, told. It holds until the next `step`.

    Attributes:
        seat: the seat's name.
        place: its place in seating order, from 1.
        view: all that the seat may know (`wolfbus.knowledge.view.SeatView`).
        ask: the request; None where the game is over and nothing is asked.
        reward: at the end 1.0 where the seat's side won, -1.0 where the other did, 0.0 where neither; 0.0 before.
    """

    seat: str
    place: int
    view: SeatView
    ask: Ask | None
    reward: float = 0.0
    _reader: TextReader = field(default_factory=TextReader, repr=False)

    @property
    def ended(self) -> bool:
        """Whether the game is over, and this seat is told so."""
        return self.ask is None

    @property
    def kind(self) -> Kind | None:
        """What is asked for; None at the end."""
        return None if self.ask is None else self.ask.kind

    @property
    def legal(self) -> tuple[str | None, ...] | None:
        """Names that may be answered, None among them where nobody is an answer; None where no name is asked for."""
        return None if self.ask is None else self.ask.legal

    @cached_property
    def observation(self) -> dict[str, Any]:
        """All that the seat knows and is asked, as JSON: an `ask` of the line protocol, at the end its `bye`."""
        return bye_message(self.view) if self.ask is None else ask_message(self.ask, self.view)

    @cached_property
    def prompt(self) -> str:
        """The same as text, as a language model is asked; at the end who has won and who was what."""
        return end_in_words(self.view) if self.ask is None else self._reader.write(self.ask, self.view)

    def read(self, answer: AnswerLike) -> Answer:
        """Return what an answer says: text is read as a model's reply is, anything else as what a method returned.

        Raises:
            TypeError: it cannot be an answer to this kind of request.
            ValueError: it lacks a field, or a value is not possible.
        """
        if self.ask is None:
            raise TypeError("nothing is asked at the end of a game")
        if isinstance(answer, str):
            return self._reader.read(answer, self.ask, self.view)
        if answer is None and self.kind == "bid":
            return Answer(None, note="there is no bid")
        return answer_of(self.ask.kind, answer)


def end_in_words(view: SeatView) -> str:
    """Return how a game has ended for a seat, in a sentence."""
    bye = bye_message(view)
    roles = ", ".join(f"{name} was {role}" for name, role in bye["roles"].items())
    return f"The game is over: {bye['winner'] or 'nobody'} won after {bye['rounds']} rounds. {roles}."


class Learner(Agent):
    """A seat whose requests wait for `Env.step`."""

    _games: ClassVar[dict[str, queue.SimpleQueue[_News]]] = {}
    """Where the seats of each game that is pulled say what they are asked."""

    async def answer(self, ask: Ask, view: SeatView, /) -> AnswerLike:
        """Wait for an answer."""
        pulled = self._games.get(self.game)
        if pulled is None:
            raise PlayerError("a learner plays in a wolfbus.env.Env only")
        loop = asyncio.get_running_loop()
        answered: asyncio.Future[AnswerLike] = loop.create_future()
        pulled.put(_Open(self.seat, ask, view, answered))
        return await answered

    def ended(self, view: SeatView, /) -> None:
        """Tell the end."""
        if (pulled := self._games.get(self.game)) is not None:
            pulled.put(_End(self.seat, view))


@dataclass(frozen=True, slots=True)
class _Open:
    seat: str
    ask: Ask
    view: SeatView
    answered: asyncio.Future[AnswerLike]

    def close(self, answer: Answer) -> None:
        """Answer it, from any thread."""

        def close() -> None:
            # the game may have been broken off meanwhile
            if not self.answered.done():
                self.answered.set_result(answer)

        self.answered.get_loop().call_soon_threadsafe(close)


@dataclass(frozen=True, slots=True)
class _End:
    seat: str
    view: SeatView


_News: TypeAlias = _Open | _End | Recorded | Game
"""What is heard of a game: a request, a seat's end, an event, or that the moderator is through with it."""


class Env(Closable):
    """Plays one game after the other; one at a time, from one thread.

    Requests to several learners' seats are handed out one by one, in the order in which the record has them, so the
    same seed and the same answers make the same turns and the same game.

    Args:
        players: who plays, as `wolfbus.play` takes it; ``learner`` is a seat that is pulled. All are unless given.
        config: the rules, as `wolfbus.play` takes them; their deadlines are a day here.
        out: folder of records; None to write none.

    Attributes:
        game: the last game that came to its end, with its events and findings; None before.

    Raises:
        ConfigError: players or rules that cannot be understood, or nobody is a learner.
    """

    def __init__(
        self,
        players: PlayersOf = LEARNER,
        *,
        config: GameConfig | Mapping[str, Any] | Path | str | None = None,
        out: Path | str | None = None,
    ) -> None:
        loaded = loaded_from(config)
        if isinstance(players, str):
            players = renamed(players, _spec_of)
        elif isinstance(players, Mapping):
            players = {name: _spec_of(brain) for name, brain in players.items()}
        else:
            players = [_spec_of(brain) for brain in players]
        self._config = loaded.config.model_copy(update={"deadlines": _PATIENT})
        self._brains = brains_of(players, self._config, expand)
        if _SPEC not in self._brains:
            raise ConfigError(f"players: no seat is a learner's; write something like {LEARNER}*2,scripted*6")
        self._out = None if out is None else Path(out)
        self._stack = contextlib.ExitStack()
        shared = self._stack.enter_context(open_brain_context(self._brains, loaded.models, probe=False))
        self._context: BrainContext | None = shared
        self._running: _Running | None = None
        self.game: PlayedGame | None = None

    @property
    def places(self) -> tuple[int, ...]:
        """Places of the learners' seats in seating order, from 1."""
        return tuple(place for place, brain in enumerate(self._brains, 1) if brain == _SPEC)

    def reset(self, seed: str | int | None = None) -> Turn:
        """Begin a game and return its first turn; one that is under way is broken off.

        Args:
            seed: of names, roles and every draw of the rules; fresh unless given.

        Raises:
            WolfError: the game cannot be begun, or failed.
        """
        self._break_off()
        if self._context is None:
            raise WolfError("the environment is closed")
        game = fresh_id()
        path = None if self._out is None else self._out / f"{game}.ndjson"
        self._running = _Running(self._config, seed_of(seed), self._brains, path, game, self._context)
        turn = self._next()
        if turn is None:
            raise WolfError("the game ended without a word to its learners")
        return turn

    def step(self, answer: AnswerLike = None) -> Turn | None:
        """Answer the turn, and return the next; None once every learner's seat was told the end.

        An answer that is text is read by the ladder by which models' replies are read; one that cannot be used gives
        way to the conservative default, as everywhere. At the end of a game every learner's seat has a turn in seating
        order, `Turn.ended`, whose answer is None.

        Args:
            answer: text, or what a method of an agent may return (docs/bring-an-agent.md); None is silence, nobody, an
                abstention, or no bid or assessment.

        Raises:
            TypeError: it cannot be an answer to this kind of request; the turn stays open.
            ValueError: it lacks a field, or a value is not possible; the turn stays open.
            WolfError: no turn is open, or the game failed.
        """
        if self._running is None:
            raise WolfError("no turn is open; begin a game with reset")
        self._running.answer(answer)
        return self._next()

    def close(self) -> None:
        """Break off the game under way, and release everything."""
        self._break_off()
        self._context = None
        self._stack.close()

    def _next(self) -> Turn | None:
        running = self._running
        if running is None:
            return None
        try:
            turn = running.next()
        except BaseException:
            self._break_off()
            raise
        if running.played is not None:
            self.game = running.played
        if turn is None:
            self._break_off()
        return turn

    def _break_off(self) -> None:
        if self._running is not None:
            self._running.close()
            self._running = None


def _spec_of(brain: _Brain) -> _Brain | str:
    return _SPEC if brain in (LEARNER, Learner) else brain


def _leave(house: EmbeddedHouse, game: Game) -> None:
    """Close a house; of a game that is not over there its record says so first."""
    if not game.finished.is_set():
        house.end(WolfError("whoever pulled the game has left it"))
        game.finished.wait()
    house.close()
    Learner._games.pop(game.opened.game, None)  # noqa: SLF001 - where its seats found who pulls it


def _leave_later(house: EmbeddedHouse, game: Game) -> None:
    """Leave a game that nobody closed. Garbage may be collected on a thread of its house, which must not wait."""
    threading.Thread(target=_leave, args=(house, game), name="leave", daemon=True).start()


class _Running(Closable):
    """A game that is pulled."""

    def __init__(
        self,
        config: GameConfig,
        seed: str,
        brains: tuple[str, ...],
        path: Path | None,
        game: str,
        brain_context: BrainContext,
    ) -> None:
        self.played: PlayedGame | None = None
        self._path = path
        self._news: queue.SimpleQueue[_News] = queue.SimpleQueue()
        self._events: list[Recorded] = []
        self._due: deque[str] = deque()
        self._open: dict[str, _Open] = {}
        self._ends: dict[str, SeatView] = {}
        self._readers: dict[str, TextReader] = {}
        self._turn: Turn | None = None
        self._over: Game | None = None
        self._process = os.getpid()
        Learner._games[game] = self._news  # noqa: SLF001 - the seats of this game find it there
        self._house = EmbeddedHouse(watch=[self._news.put], done=self._news.put, brain_context=brain_context)
        try:
            self._game = self._house.open(config, seed, brains, path, game)
        except BaseException:
            self._house.close()
            del Learner._games[game]  # noqa: SLF001 - as above
            raise
        seats = self._game.opened.seats
        self._places = {seat.name: place for place, seat in enumerate(seats, 1) if seat.brain == _SPEC}
        self._forgotten = weakref.finalize(self, _leave_later, self._house, self._game)
        self._forgotten.atexit = False

    def answer(self, answer: AnswerLike) -> None:
        """Answer the open turn; raises as `Env.step` does."""
        if os.getpid() != self._process:
            raise WolfError("this game goes on in the process that began it; begin another with reset")
        turn = self._turn
        if turn is None:
            raise WolfError("no turn is open; begin a game with reset")
        if turn.ended:
            if answer is not None:
                raise TypeError("nothing is asked at the end of a game; its answer is None")
            del self._ends[turn.seat]
        else:
            read = turn.read(answer)
            self._open.pop(turn.seat).close(read)
        self._turn = None

    def next(self) -> Turn | None:
        """Wait for the next turn; None at the end."""
        while self._over is None and not (self._due and self._due[0] in self._open):
            self._hear(self._news.get())
        if self._over is None:
            seat = self._due.popleft()
            request = self._open[seat]
            self._turn = self._turn_of(seat, request.view, request.ask)
            return self._turn
        if self.played is None:
            self.played = result_of(self._over, self._path, self._events)
            while len(self._ends) < len(self._places):
                self._hear(self._news.get())
        seat = next((name for name in self._places if name in self._ends), "")
        if not seat:
            return None
        self._turn = self._turn_of(seat, view := self._ends[seat], None)
        winner = self.played.winner
        self._turn.reward = 0.0 if winner is None else 1.0 if winner == team_of(view.role) else -1.0
        return self._turn

    def close(self) -> None:
        """End it, wherever it stands; a process that was forked meanwhile has none of its threads, and forgets it."""
        self._forgotten.detach()
        if os.getpid() == self._process:
            _leave(self._house, self._game)

    def _turn_of(self, seat: str, view: SeatView, ask: Ask | None) -> Turn:
        return Turn(seat, self._places[seat], view, ask, _reader=self._readers.setdefault(seat, TextReader()))

    def _hear(self, news: _News) -> None:
        if isinstance(news, _Open):
            self._open[news.seat] = news
        elif isinstance(news, _End):
            self._ends[news.seat] = news.view
        elif isinstance(news, Game):
            self._over = news
        else:
            self._events.append(news)
            if news.event.type == "asked":
                self._due += (seat for asking in news.event.asks for seat in asking.seats if seat in self._places)
