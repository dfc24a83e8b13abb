"""`Stage`: what every check of a trial works with: the desk, the games under way, and how to begin and end one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from moderator.check import rivals
from moderator.check.desk import CheckHouse, Heard
from moderator.check.finding import FindingLedger
from moderator.check.game import TrialGame
from moderator.check.plays import Scene
from wolfbus.messages.events import Ended
from wolfbus.vocabulary import Role


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
        desk: the moderator's desk.
        terms: how long to wait.
        ledger: where answers and faults are noted.
        run: begins the ids of the trial's games.
    """

    def __init__(self, desk: CheckHouse, terms: TrialTerms, ledger: FindingLedger, run: str) -> None:
        self.desk = desk
        self.terms = terms
        self.ledger = ledger
        self.games: list[TrialGame] = []
        self._run = run
        desk.on_rejoin = self._catch_up

    def open(self, mine: tuple[int, ...], role: Role, cast: rivals.Cast = rivals.Cast()) -> TrialGame:  # noqa: B008 - frozen
        """Begin a game with the agent in the seats `mine`, counted from 0, and `role` in the first of them."""
        name = f"{self._run}-{len(self.games) + 1}"
        opened = rivals.opening(name, self.desk.member, mine, role, self.terms.deadline_s, cast)
        self.games.append(TrialGame(self.desk, opened, self.ledger, self.route))
        return self.games[-1]

    def scene(self, role: Role = "Villager", cast: rivals.Cast = rivals.Cast()) -> Scene:  # noqa: B008 - frozen
        """Begin a game of single questions to one seat."""
        game = self.open((1,), role, cast)
        return Scene(game, game.opened.seats[1].name)

    def end(self, scene: Scene) -> None:
        """End a game of single questions."""
        scene.game.tell([Ended(winner=None, reason="max_rounds", rounds=1)])

    def settle(self, seconds: float | None = None) -> None:
        """Take in what comes without being asked for."""
        self.route(self.desk.silence(self.terms.settle_s if seconds is None else seconds))

    def route(self, heard: Iterable[Heard]) -> None:
        """Give messages to the games they are for; those for games of others are none of ours."""
        for each in heard:
            game = next((game for game in self.games if game.game == each.entry.game), None)
            if game is not None:
                game.take(each)
            elif each.entry.game.startswith(self._run):
                self.ledger.fault("unknown game", "fail", f"a {each.entry.type!r} in game {each.entry.game!r}")

    def _catch_up(self) -> None:
        for game in self.games:
            if not game.over:
                game.catch_up()
