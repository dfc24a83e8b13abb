"""`GameFacts`: what is true of a game at the moment, and who knows it, folded from its events."""

from __future__ import annotations

from collections.abc import Mapping

from wolfbus.messages.base import SeatName
from wolfbus.vocabulary import Reveal, Role, Team, team_of


class GameFacts:
    """The `wolfbus.truth.Facts` of a game that somebody else runs.

    Args:
        roles: role of every player, in seating order.
        reveal: what everybody learns of a player who leaves.

    Attributes:
        roles: role of every player.
        living: players still in the game, in seating order.
        inspected: per seer, what it learned.
        inspected_in: the round in which a seer inspected a player.
        protected: per doctor, the players it protected, by round.
        night_victims: who died at night.
        revealed: teams or roles that became public.
    """

    def __init__(self, roles: Mapping[SeatName, Role], reveal: Reveal = "none") -> None:
        self.roles = dict(roles)
        self.living = list(self.roles)
        self.inspected: dict[SeatName, dict[SeatName, Role]] = {}
        self.inspected_in: dict[tuple[SeatName, SeatName], int] = {}
        self.protected: dict[SeatName, dict[int, SeatName]] = {}
        self.night_victims: list[SeatName] = []
        self.revealed: dict[SeatName, Role | Team] = {}
        self._reveal = reveal

    def inspect(self, round_: int, seer: SeatName, target: SeatName, role: Role) -> None:
        """Take note of what a seer learned."""
        self.inspected.setdefault(seer, {})[target] = role
        self.inspected_in[seer, target] = round_

    def protect(self, round_: int, doctor: SeatName, target: SeatName) -> None:
        """Take note of whom a doctor protected."""
        self.protected.setdefault(doctor, {})[round_] = target

    def die(self, name: SeatName) -> None:
        """Take note of a night's victim."""
        self.night_victims.append(name)
        self.leave(name)

    def leave(self, name: SeatName) -> None:
        """Take a player out of the game."""
        if name not in self.living:
            return
        self.living.remove(name)
        if self._reveal != "none":
            role = self.roles[name]
            self.revealed[name] = role if self._reveal == "role" else team_of(role)
