"""How even a study is: who played which role how often, and who met whom on which side."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from wolfbus.vocabulary import ROLES, Role


@dataclass
class Balance:
    """Counts over games; the games' order does not matter.

    A meeting is two seats of one game: allies are on the same side, opponents on different ones. Agents may have
    different shares of the seats, so meetings are compared after division by the product of the two shares.

    Attributes:
        games: how many.
        roles: agent and role to how often it was dealt that.
        met: two agents in the order of their names to counts of both wolves, both others, first the wolf, second
            the wolf.
    """

    games: int = 0
    roles: Counter[tuple[str, Role]] = field(default_factory=Counter)
    met: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, roles: Sequence[Role], brains: Sequence[str]) -> None:
        """Add one game: role and agent of every seat."""
        self.games += 1
        wolves: Counter[str] = Counter()
        others: Counter[str] = Counter()
        for role, agent in zip(roles, brains, strict=True):
            self.roles[agent, role] += 1
            (wolves if role == "Werewolf" else others)[agent] += 1
        for one, other in itertools.combinations_with_replacement(sorted({*wolves, *others}), 2):
            counts = self.met.setdefault((one, other), [0, 0, 0, 0])
            if one == other:
                counts[0] += wolves[one] * (wolves[one] - 1) // 2
                counts[1] += others[one] * (others[one] - 1) // 2
                counts[2] += wolves[one] * others[one]
                continue
            counts[0] += wolves[one] * wolves[other]
            counts[1] += others[one] * others[other]
            counts[2] += wolves[one] * others[other]
            counts[3] += wolves[other] * others[one]

    def result(self, shares: Sequence[tuple[str, int]]) -> dict[str, Any]:
        """Return the counts as plain values, with how even they are.

        Args:
            shares: every agent with its share of the seats; roles are equal when they are in proportion to it.
        """
        weight = dict(shares)
        agents = [agent for agent, _ in shares]
        played = [role for role in ROLES if any(self.roles[agent, role] for agent in agents)]
        roles_equal = all(
            len({Fraction(self.roles[agent, role], weight[agent]) for agent in agents}) == 1 for role in played
        )
        off = max(
            (
                max(values) - min(values)
                for role in played
                if (values := [Fraction(self.roles[agent, role], weight[agent]) for agent in agents])
            ),
            default=Fraction(0),
        )
        pairs = [
            {"agents": [one, other], "both_wolves": wolves, "both_others": others, "first_wolf": a, "second_wolf": b}
            for (one, other), (wolves, others, a, b) in self._of(agents)
        ]
        allies, opponents, sides = self._meetings(agents, weight)
        return {
            "games": self.games,
            "roles": {agent: {role: self.roles[agent, role] for role in played} for agent in agents},
            "roles_equal": roles_equal,
            "roles_apart": float(off),
            "pairs": pairs,
            "allies": _range(allies),
            "opponents": _range(opponents),
            "meetings_equal": all(len(set(values)) <= 1 for values in sides),
        }

    def _of(self, agents: Sequence[str]) -> Iterable[tuple[tuple[str, str], list[int]]]:
        for one, other in itertools.combinations_with_replacement(agents, 2):
            counts = self.met.get((min(one, other), max(one, other)), [0, 0, 0, 0])
            if one > other:
                counts = [counts[0], counts[1], counts[3], counts[2]]
            if one != other or any(counts):
                yield (one, other), counts

    def _meetings(
        self, agents: Sequence[str], weight: dict[str, int]
    ) -> tuple[list[Fraction], list[Fraction], list[list[Fraction]]]:
        allies: list[Fraction] = []
        opponents: list[Fraction] = []
        both_wolves: list[Fraction] = []
        one_wolf: list[Fraction] = []
        for (one, other), counts in self._of(agents):
            if one == other:
                continue
            pairs = weight[one] * weight[other]
            allies.append(Fraction(counts[0] + counts[1], pairs))
            opponents.append(Fraction(counts[2] + counts[3], pairs))
            both_wolves.append(Fraction(counts[0], pairs))
            one_wolf += [Fraction(counts[2], pairs), Fraction(counts[3], pairs)]
        return allies, opponents, [allies, both_wolves, one_wolf]


def _range(values: Sequence[Fraction]) -> dict[str, float | None]:
    if not values:
        return {"min": None, "max": None}
    return {"min": float(min(values)), "max": float(max(values))}
