"""`Stage`: what every check of a trial works with: the house, the games so far, and how to play one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from moderator.check import rivals
from moderator.check.finding import FindingLedger
from moderator.check.game import Plot, Scene, TrialGame
from moderator.check.house import CheckHouse
from moderator.engine.context import GameOver
from moderator.rules.game import Play
from wolfbus.bus.protocol import Commit, Entry
from wolfbus.vocabulary import Role

PATIENCE: Final = 3
"""Requests in a row without any answer after which a trial is broken off."""


class SilentError(Exception):
    """The agent answers no more, or has gone: the rest of the trial would only wait."""


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


class Stage:
    """One agent's trial under way.

    Args:
        house: the trial's house.
        terms: how long to wait.
        ledger: where answers and faults are noted.
        run: begins the ids of the trial's games.
    """

    def __init__(self, house: CheckHouse, terms: TrialTerms, ledger: FindingLedger, run: str) -> None:
        self.house = house
        self.terms = terms
        self.ledger = ledger
        self.games: list[TrialGame] = []
        self._run = run
        self._running: set[str] = set()
        self._broken = False
        house.on_message, house.on_step = self._route, self._send

    def open(self, mine: tuple[int, ...], role: Role, cast: rivals.Cast = rivals.Cast()) -> TrialGame:  # noqa: B008 - frozen
        """Return a game with the agent in the seats `mine`, counted from 0, and `role` in the first of them."""
        name = f"{self._run}-{len(self.games) + 1}"
        opened = rivals.opening(name, self.house.member, mine, role, self.terms.deadline_s, cast)
        self.house.rivals.spared[name] = {opened.seats[place].name for place in mine}
        self.games.append(TrialGame(self.house, opened, self.ledger))
        return self.games[-1]

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
                self.house.hear(time.monotonic() + 1)
                self._look_for_life(games)
        except BaseException:
            self._broken = True
            self.house.break_off("the trial breaks off")
            raise

    def finish(self, game: TrialGame | None = None) -> None:
        """Wait until a game, or every one, has left nothing to be written."""
        while self._running if game is None else game.name in self._running:
            self.house.hear(time.monotonic() + 1)

    def scene(self, plot: Plot, role: Role = "Villager", cast: rivals.Cast = rivals.Cast()) -> Scene:  # noqa: B008 - frozen
        """Play a game of single questions to one seat."""
        game = self.open((1,), role, cast)
        return self.go_on(Scene(game, game.opened.seats[1].name, self.house.rivals, plot))

    def go_on(self, scene: Scene) -> Scene:
        """Play a scene, perhaps under the name of one before."""
        self.play(scene.game, play=scene.play)
        return scene

    def _look_for_life(self, games: Sequence[TrialGame]) -> None:
        if self.house.left is not None:
            raise SilentError(f"it said leave in the middle of the trial ({self.house.left.reason or 'no reason'})")
        unanswered = max(game.unanswered for game in games)
        if unanswered >= PATIENCE:
            raise SilentError(f"{unanswered} requests in a row had no answer")

    def _leave(self, result: GameOver) -> None:
        self._running.discard(result.game)
        if result.error is not None and not self._broken:
            raise result.error

    def settle(self, seconds: float | None = None) -> None:
        """Take in what comes without being asked for."""
        self.house.silence(self.terms.settle_s if seconds is None else seconds)

    def _find(self, name: str) -> TrialGame | None:
        return next((game for game in self.games if game.name == name), None)

    def _send(self, commit: Commit) -> Commit:
        game = self._find(commit.game)
        return commit if game is None else game.send(commit)

    def _route(self, entry: Entry, at: float) -> None:
        """Give a message to the game it is for; those for games of others are none of ours."""
        game = self._find(entry.game)
        if game is not None:
            game.take(entry, at)
        elif entry.game.startswith(self._run):
            self.ledger.fault("unknown game", "fail", f"a {entry.type!r} in game {entry.game!r}")
