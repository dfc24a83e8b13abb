"""Objective truth: what is so at one moment of a game, and what a player can know of it.

A false claim is a *lie* when the speaker's own view at that moment entails that it is false, a *mistake* when it does
not (`wolfbus.claims`). What a view entails is computed exactly from: the own role, partners, inspections, protections,
revealed roles and teams, the role counts, night victims (no wolf is a legal kill), and that the game goes on now (at
least one wolf lives, fewer than the others). What only an earlier moment would rule out is not counted; nor is more of
a revealed side, where the Werewolves have accomplices, than which roles it rules out.

`GameFacts` follows a game that somebody else runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from wolfbus.game.roles import sees, team_of
from wolfbus.game.vocabulary import Reveal, Role, Team
from wolfbus.messages.base import SeatName


class Facts(Protocol):
    """What is true of a game at one moment, and who knows it."""

    @property
    def roles(self) -> Mapping[SeatName, Role]:
        """Role of every player, dead ones included; the role counts, which everybody knows, follow from it."""

    @property
    def living(self) -> Collection[SeatName]:
        """Players still in the game."""

    @property
    def inspected(self) -> Mapping[SeatName, Mapping[SeatName, Role | Team]]:
        """Per seer, what it learned of whom: a role; or "villagers", where that is only that it is no Werewolf."""

    @property
    def inspected_in(self) -> Mapping[tuple[SeatName, SeatName], int]:
        """The round in which a seer inspected a player."""

    @property
    def protected(self) -> Mapping[SeatName, Mapping[int, SeatName]]:
        """Per doctor, the players it protected, by round."""

    @property
    def night_victims(self) -> Collection[SeatName]:
        """Who died at night, so was no wolf."""

    @property
    def revealed(self) -> Mapping[SeatName, Role | Team]:
        """Teams or roles that became public."""


def thinkable(facts: Facts, observer: SeatName, target: SeatName, role: Role) -> bool:
    """Return whether, for all that `observer` knows, `target` could be the `role`.

    Exact: it asks whether any deal of the role counts agrees with what the observer knows and has `target` as `role`.
    """
    roles, not_wolves = knowledge(facts, observer)
    if target in roles:
        return roles[target] == role
    if (role == "Werewolf" and target in not_wolves) or facts.revealed.get(target, team_of(role)) != team_of(role):
        return False
    roles[target] = role
    left = Counter(facts.roles.values())
    left.subtract(roles.values())
    return min(left.values()) >= 0 and bool(_unknown(facts, roles, not_wolves).living_wolves)


class _Unknown(NamedTuple):
    """Players who may be Werewolves or not, the living apart, how many of both are, and how many of the living may be
    so that the game goes on: 1 ≤ living wolves < living others.
    """

    living: set[SeatName]
    dead: set[SeatName]
    wolves: int
    living_wolves: list[int]


def _unknown(facts: Facts, roles: Mapping[SeatName, Role], not_wolves: Collection[SeatName]) -> _Unknown:
    """Return what roles that are known, and who is known to be no Werewolf, leave open."""
    names = facts.roles.keys() - roles.keys() - set(not_wolves)
    living, dead = names.intersection(facts.living), names.difference(facts.living)
    left = [*facts.roles.values()].count("Werewolf") - [*roles.values()].count("Werewolf")
    known_wolves = sum(1 for name in facts.living if roles.get(name) == "Werewolf")
    counts = range(max(0, left - len(dead)), min(left, len(living)) + 1)
    return _Unknown(
        living, dead, left, [n for n in counts if 1 <= known_wolves + n < len(facts.living) - known_wolves - n]
    )


def knowledge(facts: Facts, observer: SeatName) -> tuple[dict[SeatName, Role], set[SeatName]]:
    """Return what `observer` knows for certain: roles by name, and who is no Werewolf though the role is unknown."""
    roles = facts.roles
    by_name: dict[SeatName, Role] = {observer: roles[observer]}
    not_wolves = set(facts.night_victims)
    if sees(roles[observer]) == "werewolves":
        for name, role in roles.items():
            if role == "Werewolf":
                by_name[name] = role
            else:
                not_wolves.add(name)
    for name, revealed in (*facts.inspected.get(observer, {}).items(), *facts.revealed.items()):
        if revealed == "villagers":
            not_wolves.add(name)
        elif revealed != "werewolves":
            by_name[name] = revealed
        elif all(role == "Werewolf" for role in roles.values() if team_of(role) == "werewolves"):
            by_name[name] = "Werewolf"
    if [*roles.values()].count("Werewolf") == [*by_name.values()].count("Werewolf"):
        not_wolves.update(name for name in roles if name not in by_name)
    return by_name, not_wolves - by_name.keys()


def entailed(facts: Facts, observer: SeatName) -> frozenset[SeatName]:
    """Return the players of whom `observer` can tell whether they are Werewolves: its view entails it.

    Werewolves know each other, so they can tell of everybody; a Seer can of whom it inspected, everybody of night
    victims and of what was revealed; and all that follows from these with the role counts and with the game's going on.
    """
    roles, not_wolves = knowledge(facts, observer)
    unknown = _unknown(facts, roles, not_wolves)
    fewest, most = min(unknown.living_wolves, default=None), max(unknown.living_wolves, default=None)
    certain = {*roles, *not_wolves}
    if fewest is None or most is None:
        return frozenset(certain)
    # what is known of one living player of whom nothing else is known is known of all of them, and so of the dead
    if most == 0 or fewest == len(unknown.living):
        certain |= unknown.living
    if fewest == unknown.wolves or unknown.wolves - most == len(unknown.dead):
        certain |= unknown.dead
    return frozenset(certain)


class GameFacts:
    """The `Facts` of a game that somebody else runs, and who could not know which of the others are Werewolves.

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
        self.inspected: dict[SeatName, dict[SeatName, Role | Team]] = {}
        self.inspected_in: dict[tuple[SeatName, SeatName], int] = {}
        self.protected: dict[SeatName, dict[int, SeatName]] = {}
        self.night_victims: list[SeatName] = []
        self.revealed: dict[SeatName, Role | Team] = {}
        self._reveal = reveal
        self._entailed: dict[SeatName, frozenset[SeatName]] = {}

    def inspect(self, round_: int, seer: SeatName, target: SeatName, role: Role | Team) -> None:
        """Record what a seer learned: a role; "villagers" where that is only that the target is no Werewolf."""
        self.inspected.setdefault(seer, {})[target] = role
        self.inspected_in[seer, target] = round_
        self._entailed.clear()

    def protect(self, round_: int, doctor: SeatName, target: SeatName) -> None:
        """Record whom a doctor protected."""
        self.protected.setdefault(doctor, {})[round_] = target

    def leave(self, name: SeatName, how: str) -> None:
        """Remove a player from the game, in one of `wolfbus.knowledge.departure.WAYS`."""
        self._entailed.clear()
        if how == "night":
            self.night_victims.append(name)
        if name not in self.living:
            return
        self.living.remove(name)
        if how == "exile":
            result: Role | Team = "Werewolf" if self.roles[name] == "Werewolf" else "villagers"
            for observer in self.living:
                if sees(self.roles[observer]) == "exiled":
                    self.inspected.setdefault(observer, {})[name] = result
        if self._reveal != "none":
            role = self.roles[name]
            self.revealed[name] = role if self._reveal == "role" else team_of(role)

    def informed(self, observer: SeatName, target: SeatName) -> bool:
        """Return whether what the observer knows entails whether the target is a Werewolf, now.

        Who is not has to find out; all that tells of who believed or suspected whom is over those pairs.
        """
        targets = self._entailed.get(observer)
        if targets is None:
            targets = self._entailed[observer] = entailed(self, observer)
        return target in targets
