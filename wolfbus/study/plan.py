"""`Plan`: all games of a study before any is played: id, seed, block and who sits where; and how even that is.

`Balance` counts who played which role how often, and who met whom on which side.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

from wolfbus.files.canonical import canonical, sha256_hex
from wolfbus.game.config import GameConfig
from wolfbus.game.draws import game_seed
from wolfbus.game.vocabulary import ROLES, Role
from wolfbus.study.designs import Balanced, Design, DesignKind, Fixed, Joined, Mirrored, Shuffle, role_slots, shares_of


@dataclass
class Balance:
    """Counts over games; the games' order does not matter.

    A meeting is two seats of one game: allies are on the same side, opponents on different ones. Agents may have
    different shares of the seats, so meetings are compared after division by the product of the two shares.

    Attributes:
        games: how many.
        roles: agent and role to how often it was dealt that.
        wolves: two agents, in the order of their names, to how often both were Werewolves.
        others: likewise, how often neither was.
        opposed: (Werewolf, other) to how often they were that.
    """

    games: int = 0
    roles: Counter[tuple[str, Role]] = field(default_factory=Counter)
    wolves: Counter[tuple[str, str]] = field(default_factory=Counter)
    others: Counter[tuple[str, str]] = field(default_factory=Counter)
    opposed: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, roles: Sequence[Role], brains: Sequence[str]) -> None:
        """Add one game: role and agent of every seat."""
        self.games += 1
        self.roles.update(zip(brains, roles, strict=True))
        wolves = Counter(agent for role, agent in zip(roles, brains, strict=True) if role == "Werewolf")
        others = Counter(brains) - wolves
        for side, met in ((wolves, self.wolves), (others, self.others)):
            for one, other in itertools.combinations_with_replacement(sorted(side), 2):
                met[one, other] += side[one] * side[other] if one != other else side[one] * (side[one] - 1) // 2
        for wolf, other in itertools.product(wolves, others):
            self.opposed[wolf, other] += wolves[wolf] * others[other]

    def result(self, shares: Sequence[tuple[str, int]]) -> dict[str, Any]:
        """Return the counts as plain values, with how even they are.

        Args:
            shares: every agent with its share of the seats; roles are equal when they are in proportion to it.
        """
        weight, agents = dict(shares), [agent for agent, _ in shares]
        played = [role for role in ROLES if any(self.roles[agent, role] for agent in agents)]
        rates = [[Fraction(self.roles[agent, role], weight[agent]) for agent in agents] for role in played]
        met = {pair: self._counts(*pair) for pair in itertools.combinations_with_replacement(agents, 2)}
        per_share = [
            [Fraction(count, weight[one] * weight[other]) for count in counts.values()]
            for (one, other), counts in met.items()
            if one != other
        ]
        allies = [wolves + others for wolves, others, _, _ in per_share]
        opponents = [first + second for _, _, first, second in per_share]
        both_wolves = [wolves for wolves, _, _, _ in per_share]
        one_wolf = [count for _, _, *counts in per_share for count in counts]
        return {
            "games": self.games,
            "roles": {agent: {role: self.roles[agent, role] for role in played} for agent in agents},
            "roles_equal": all(len(set(values)) == 1 for values in rates),
            "roles_apart": float(max((max(values) - min(values) for values in rates), default=0)),
            "pairs": [
                {"agents": list(pair), **counts}
                for pair, counts in met.items()
                if pair[0] != pair[1] or any(counts.values())
            ],
            "allies": _range(allies),
            "opponents": _range(opponents),
            "meetings_equal": all(len(set(values)) <= 1 for values in (allies, both_wolves, one_wolf)),
        }

    def _counts(self, one: str, other: str) -> dict[str, int]:
        pair = (min(one, other), max(one, other))
        return {
            "both_wolves": self.wolves[pair],
            "both_others": self.others[pair],
            "first_wolf": self.opposed[one, other],
            "second_wolf": self.opposed[other, one] if one != other else 0,
        }


def _range(values: Sequence[Fraction]) -> dict[str, float | None]:
    if not values:
        return {"min": None, "max": None}
    return {"min": float(min(values)), "max": float(max(values))}


Deal = Callable[[GameConfig, str], Sequence[tuple[str, Role]]]
"""Returns name and role of every seat in seating order, from rules and a game's seed."""


@dataclass(frozen=True, slots=True)
class ForkOrder:
    """From where a game is forked, and what stands there.

    Attributes:
        parent: the file of the parent's record.
        statement: the number of the parent's statement.
        arm: the arm, by its name in the record.
        words: what is said; of the arm ``say`` only.
        k: which fork of this arm, from 1.
        tries: statements that may be drawn for it, >= 1.
    """

    parent: str
    statement: int
    arm: str
    words: str | None
    k: int
    tries: int


@dataclass(frozen=True, slots=True)
class PlannedGame:
    """One game as it is to be played.

    Attributes:
        number: from 1.
        game: its id.
        seed: its seed.
        block: what it is resampled with: its rotation where the design has one, else itself.
        brains: the brain of every seat, in seating order; () where whoever has joined plays.
        fork: from where it is forked; None for a game that is played from its beginning.
    """

    number: int
    game: str
    seed: str
    block: str
    brains: tuple[str, ...]
    fork: ForkOrder | None = None

    @property
    def record(self) -> str:
        """Where its record stands in the study's folder."""
        return f"records/{self.game}.ndjson"


class Plan:
    """The games of a study; game n is the same however many there are.

    Args:
        config: the rules.
        seed: the study's seed.
        kind: the design.
        seats: a brain per seat, in seating order; None where agents take turns.
        agents: different brains that take turns; None where there is one per seat.
        deal: the moderator's deal.
        cell: of a study with factors, which of its cells this is; None for any other.
    """

    def __init__(
        self,
        config: GameConfig,
        seed: str,
        kind: DesignKind,
        seats: tuple[str, ...] | None,
        agents: tuple[str, ...] | None,
        deal: Deal,
        cell: str | None = None,
    ) -> None:
        self.config = config
        self.seed = seed
        self.kind: DesignKind | Literal["forks"] = kind
        self._seats = seats
        self._agents = agents
        self._deal = deal
        self._cell = cell
        self.shares = shares_of(seats) if seats is not None else tuple((agent, 1) for agent in agents or ())
        self.agents = tuple(agent for agent, _ in self.shares)
        """Every brain once."""
        self.brains = seats if seats is not None else self.agents
        """Every brain as often as it was named."""
        if kind == "mirrored":
            self.shares = tuple((agent, 1) for agent in self.agents)

    @cached_property
    def design(self) -> Design:
        """Who takes which place."""
        seats = self._seats
        if self.kind == "joined":
            return Joined()
        if self.kind == "balanced":
            counts = {role: self.config.count(role) for role in ROLES}
            return Balanced(self.shares, role_slots(counts), self.seed)
        if self.kind == "mirrored":
            return Mirrored(self.agents, self.seed)
        if seats is None:
            seats = self.agents * -(-self.config.seats // len(self.agents))
        return Fixed(seats) if self.kind == "fixed" else Shuffle(seats, self.seed)

    @cached_property
    def study(self) -> str:
        """The study's id, the same wherever the same is played."""
        identity = {
            "config": self.config.model_dump(mode="json"),
            "agents": list(self.brains),
            "seed": self.seed,
            "design": self.kind,
            **({} if self._cell is None else {"cell": self._cell}),
        }
        return f"study-{sha256_hex(canonical(identity))[:8]}"

    def game_id(self, number: int) -> str:
        """Return the id of game `number`."""
        return f"{self.study}-{number:05d}"

    def game(self, number: int) -> PlannedGame:
        """Return game `number`, from 1."""
        seed, game, rotation = self.seed_of(number), self.game_id(number), self.design.rotation
        block = game if rotation == 1 else f"{self.study}-rotation-{(number - 1) // rotation + 1:05d}"
        return PlannedGame(number, game, seed, block, self.design.places(number, self._roles(seed)))

    def seed_of(self, number: int) -> str:
        """Return the seed of game `number`, from which it is dealt."""
        return game_seed(self.seed, (number - 1) // self.design.deals + 1)

    def games(self, last: int) -> Iterator[PlannedGame]:
        """Yield the games from 1 to `last`."""
        yield from map(self.game, range(1, last + 1))

    def balance(self, last: int) -> dict[str, Any]:
        """Return how even the games from 1 to `last` are; see `Balance.result`. Roles are those that were dealt."""
        if self.kind == "joined":
            return self.balance_of({}, last)
        balance = Balance()
        for number in range(1, last + 1):
            roles = self._roles(self.seed_of(number))
            balance.add(roles, self.design.places(number, roles))
        return balance.result(self.shares)

    def balance_of(self, played: Mapping[int, tuple[str, ...]], last: int) -> dict[str, Any]:
        """Return how even games are of which only now is known who played them.

        Args:
            played: their brains, in seating order, by the game's number.
            last: how many games are planned; that is the number of games in the result.
        """
        balance = Balance()
        for number, brains in sorted(played.items()):
            balance.add(self._roles(self.seed_of(number)), brains)
        result = balance.result(shares_of([brain for _, brains in sorted(played.items()) for brain in brains]))
        if len(played) < last:
            result |= {"games": last, "roles_equal": False, "meetings_equal": False}
        return result

    def _roles(self, seed: str) -> tuple[Role, ...]:
        return tuple(role for _, role in self._deal(self.config, seed))


def players_spec(brains: Sequence[str]) -> str | None:
    """Return a ``--players`` spec of these seats; None where none can say it, since a brain has a comma in it."""
    if any("," in brain for brain in brains):
        return None
    runs: list[tuple[str, int]] = []
    for brain in brains:
        if runs and runs[-1][0] == brain:
            runs[-1] = brain, runs[-1][1] + 1
        else:
            runs.append((brain, 1))
    return ",".join(f"{brain}*{count}" if count > 1 or "*" in brain else brain for brain, count in runs)
