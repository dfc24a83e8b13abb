"""`Trial`: one agent put through checks: the house, the games so far, and how one is played. `Scene`: what happens in a
game of single questions: a coroutine that the engine plays, as it plays the rules.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from moderator.check import rivals
from moderator.check.finding import Finding, FindingLedger
from moderator.check.game import TrialGame
from moderator.check.house import CheckHouse
from moderator.engine.context import GameOver
from moderator.rules.game import Play
from moderator.rules.table import BatchJoin, Script
from wolfbus.bus.protocol import Bus, Commit, Entry
from wolfbus.files.printable import counted
from wolfbus.game.fresh import fresh_name
from wolfbus.game.roles import ACTS
from wolfbus.game.vocabulary import Kind, Phase, Role
from wolfbus.messages.base import SeatName
from wolfbus.messages.events import AnyAnswered, Asked, Asking, Ended, Opened, Statement

PATIENCE: Final = 3
"""Requests in a row without any answer after which a trial is broken off."""

DEFAULT_CAST: Final = rivals.Cast()


class SilentError(Exception):
    """The agent answers no more, or has gone: the rest of the trial would only wait."""


class SkippedError(Exception):
    """A check cannot be made of this agent; it says why."""


@dataclass(frozen=True, slots=True)
class TrialTerms:
    """How long a trial waits, in seconds.

    Attributes:
        join_s: for the agent to come in.
        deadline_s: for an ordinary answer.
        tight_s: for an answer that is wanted soon.
        again_s: between two joins, as it is told.
        settle_s: for messages that should not come.
    """

    join_s: float = 30.0
    deadline_s: float = 10.0
    tight_s: float = 1.0
    again_s: float = 1.0
    settle_s: float = 0.3


@dataclass(frozen=True, slots=True)
class Check:
    """One check of a trial.

    Attributes:
        name: what is checked.
        make: makes it, and returns what was seen, in one line.
        even_if_silent: whether it can be made of an agent that answers no more.
    """

    name: str
    make: Callable[[Trial], str]
    even_if_silent: bool = False


class Trial:
    """Puts one agent through checks; its arguments are those of `moderator.check.checks.try_agent`.

    Attributes:
        house: where the agent is.
        terms: how long to wait.
        ledger: where answers and faults are noted.
        games: all games so far, by id.
    """

    def __init__(
        self,
        bus: Bus,
        house: str,
        name: str | None,
        terms: TrialTerms,
        watch: Callable[[Finding], None],
        why_gone: Callable[[], str | None],
    ) -> None:
        self.terms = terms
        self.ledger = FindingLedger(watch)
        self.house = CheckHouse(bus, house, name, terms.again_s, self.ledger, self._receive, self._send)
        self.games: dict[str, TrialGame] = {}
        self._why_gone = why_gone
        self._run = fresh_name("check")
        self._running: set[str] = set()
        self._broken = False

    def run(self, checks: Iterable[Check]) -> list[Finding]:
        """Make checks, in order, and return what was found; first of all whether the agent joins, last every kind of
        request.

        Raises:
            HouseHeld: another moderator has the house.
            BusError: the bus fails.
        """
        try:
            self.house.open()
            if self._await_join():
                self._make_checks(checks)
                self.ledger.sum_up(self.house.member.declines)
        finally:
            self.house.close()
        return self.ledger.findings

    def _await_join(self) -> bool:
        began = time.monotonic()
        with self.ledger.check("joins") as finding:
            if not self.house.wait_for_join(self.terms.join_s, self._why_gone):
                why = self._why_gone() or f"no join within {self.terms.join_s:g} s"
                self.ledger.fault("not joined", "fail", why)
            else:
                join = self.house.member
                seats, took = counted(join.seats, "seat"), time.monotonic() - began
                finding.seen = f"{join.agent} ({join.version}) takes {seats}, after {took:.1f} s"
                if join.seats == 0:
                    self.ledger.fault("no seats", "fail", "its join says seats = 0: it could be seated nowhere")
        return self.house.join is not None

    def _make_checks(self, checks: Iterable[Check]) -> None:
        silent = False
        for check in checks:
            with self.ledger.check(check.name) as finding:
                if silent and not check.even_if_silent:
                    finding.skip("it had stopped answering")
                    continue
                try:
                    finding.seen = check.make(self)
                except SkippedError as why:
                    finding.skip(str(why))
                except SilentError as error:
                    silent = True
                    self.ledger.fault("stopped answering", "fail", str(error))

    def open(self, places: tuple[int, ...], role: Role, cast: rivals.Cast = DEFAULT_CAST) -> TrialGame:
        """Return a game with the agent in the seats `places`, counted from 0, and `role` in the first of them."""
        name = f"{self._run}-{len(self.games) + 1}"
        opened = rivals.opening(name, self.house.member, places, role, self.terms.deadline_s, cast)
        self.house.rivals.spared[name] = {opened.seats[place].name for place in places}
        self.games[name] = TrialGame(self.house, opened, self.ledger)
        return self.games[name]

    def play(self, *games: TrialGame, play: Play | None = None) -> None:
        """Play games to their ends, all at once; what comes after the ends is dealt with later.

        Raises:
            SilentError: several requests in a row had no answer at all, or the agent left.
        """
        try:
            for game in games:
                self.finish(game)
                self._running.add(game.name)
                game.over = False
                self.house.play(game.opened, self._leave, play)
            while not all(game.over for game in games):
                self.house.process(time.monotonic() + 1)
                self._check_alive(games)
        except BaseException:
            self._broken = True
            self.house.break_off("the trial breaks off")
            raise

    def finish(self, game: TrialGame | None = None) -> None:
        """Wait until a game, or every one, has left nothing to be written."""
        while self._running if game is None else game.name in self._running:
            self.house.process(time.monotonic() + 1)

    def scene(self, plot: Plot, role: Role = "Villager", cast: rivals.Cast = DEFAULT_CAST) -> Scene:
        """Play a game of single questions to one seat."""
        scene = Scene(self, self.open((1,), role, cast), plot)
        self.play(scene.game, play=scene.play)
        return scene

    def settle(self, seconds: float | None = None) -> None:
        """Process messages that nothing asked for."""
        self.house.process_for(self.terms.settle_s if seconds is None else seconds)

    def _check_alive(self, games: Sequence[TrialGame]) -> None:
        if self.house.left is not None:
            raise SilentError(f"it said leave in the middle of the trial ({self.house.left.reason or 'no reason'})")
        unanswered = max(game.unanswered for game in games)
        if unanswered >= PATIENCE:
            raise SilentError(f"{unanswered} requests in a row had no answer")

    def _leave(self, result: GameOver) -> None:
        self._running.discard(result.game)
        if result.error is not None and not self._broken:
            raise result.error

    def _send(self, commit: Commit) -> Commit:
        game = self.games.get(commit.game)
        return commit if game is None else game.send(commit)

    def _receive(self, entry: Entry, at: float) -> None:
        """Give a message to the game it is for; those for games of others are none of ours."""
        game = self.games.get(entry.game)
        if game is not None:
            game.receive(entry, at)
        elif entry.game.startswith(self._run):
            self.ledger.fault("unknown game", "fail", f"a {entry.type!r} in game {entry.game!r}")


PHASES: dict[Kind, Phase] = {
    "vote": "vote",
    **{kind: "night" if act.span == "night" else "vote" for kind, act in ACTS.items()},
}
"""Part of the round in which a kind is asked for, where it is not the debate."""

Plot: TypeAlias = Callable[["Scene"], Script[Any]]
"""What happens in a scene."""


class Scene:
    """Single questions to one seat, each with what happens before it: told as the rules tell their games.

    Args:
        trial: whose scene it is.
        game: the game it is told in; its second seat is asked.
        plot: what happens.

    Attributes:
        seat: who is asked.
        role: what that seat was dealt.
        others: everybody else, in seating order.
        statements: statements so far.
    """

    def __init__(self, trial: Trial, game: TrialGame, plot: Plot) -> None:
        self.trial = trial
        self.game = game
        seat = game.opened.seats[1]
        self.seat, self.role = seat.name, seat.role
        self.others = tuple(other.name for other in game.opened.seats if other is not seat)
        self.statements = 0
        self._plot = plot
        self._questions = 0

    def play(self, opened: Opened) -> Script[Ended]:
        """Play it from the game's opening to its end."""
        yield opened
        yield from self._plot(self)
        # an answer that comes twice comes before the end
        yield from self.pause(0)
        ended = Ended(winner=None, reason="max_rounds", rounds=1)
        yield ended
        return ended

    def say(self, text: str, speaker: SeatName | None = None) -> Script[int]:
        """Let somebody speak, the first rival unless named; returns the statement's number."""
        self.statements += 1
        speaker = speaker or self.others[0]
        turn = self.statements
        yield Statement(statement=turn, round=1, phase="debate", turn=turn, speaker=speaker, text=text)
        return turn

    def pause(self, seconds: float) -> Script[AnyAnswered]:
        """Let a while pass: a rival takes it to answer a question."""
        self.trial.house.rivals.pause_s = seconds
        return self.ask("speak", seat=self.others[0])

    def ask(
        self,
        kind: Kind,
        legal: Sequence[SeatName | None] | None = None,
        about: int | None = None,
        seat: SeatName | None = None,
    ) -> Script[AnyAnswered]:
        """Put a question to a seat, the scene's own unless named, and wait for its answer, which is returned."""
        seat = seat or self.seat
        # its turn is counted up, so that no two questions are the same
        self._questions += 1
        asking = Asking(kind=kind, seats=(seat,), legal=None if legal is None else tuple(legal))
        phase, turn = PHASES.get(kind, "debate"), self._questions
        yield Asked(batch=turn, round=1, phase=phase, turn=turn, about=about, asks=(asking,))
        (answers,) = yield BatchJoin((turn,))
        return answers[seat]
