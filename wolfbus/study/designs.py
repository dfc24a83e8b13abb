"""Seating designs: which agent takes which place in game n of a study.

A place is a seat in seating order for ``fixed`` and ``shuffle``. For ``balanced`` it is a *role slot*, "the second
Werewolf" for instance: roles are dealt from a game's seed, so who plays what can be evened out only behind the deal.
For ``mirrored`` it is a side, and two games have one deal. For ``joined`` nobody is placed: the house seats whoever is
there.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, Literal, TypeAlias, get_args

from wolfbus.game.draws import shuffled
from wolfbus.game.roles import team_of
from wolfbus.game.vocabulary import ROLES, Role

DesignKind: TypeAlias = Literal["fixed", "shuffle", "balanced", "mirrored", "joined"]
KINDS_OF_DESIGN: Final[tuple[DesignKind, ...]] = get_args(DesignKind)

_ROTATIONS_SOUGHT: Final = 48
"""Rotations after which a cycle without an exact design begins anew."""
_CANDIDATES: Final = 12
"""Arrangements tried for each such rotation; the one that leaves meetings most even is taken."""
_MANY_AGENTS: Final = 32
"""Agents beyond which only one is tried."""
_SIDES: Final = (False, True)

_Rotation: TypeAlias = list[tuple[int, ...]]
"""Per game of a rotation, the place in the pattern of each slot."""


class Design:
    """Who takes which place.

    Attributes:
        kind: what it is called.
        rotation: games after which every agent has had every role in proportion to its share of the seats; 1 where
            nothing of the kind is promised. Of mirrored games, the two of a match.
        cycle: games after which meetings are equal too; None where no number makes them so for sure.
        deals: how many games in a row are dealt from one seed.
    """

    kind: DesignKind
    rotation: int = 1
    cycle: int | None = None
    deals: int = 1

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:
        """Return the agent of each seat of a game, given its number and its seats' roles."""
        raise NotImplementedError


class Fixed(Design):
    """Seat i is always the same agent's."""

    kind: DesignKind = "fixed"

    def __init__(self, agents: tuple[str, ...]) -> None:
        self._agents = agents

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:  # noqa: ARG002
        """Return the agents as they were given."""
        return self._agents


class Joined(Fixed):
    """Whoever has joined a house plays; who that is, is known once a game has begun."""

    kind = "joined"

    def __init__(self) -> None:
        super().__init__(())


class Shuffle(Design):
    """Every game draws anew who sits where; of more agents than seats, also who plays.

    Args:
        agents: as many entries as seats, or more.
        seed: the study's.
    """

    kind = "shuffle"

    def __init__(self, agents: tuple[str, ...], seed: str) -> None:
        self._agents = agents
        self._seed = seed

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:
        """Return a draw of its own for each game."""
        return shuffled(self._seed, f"study seats {number}", self._agents)[: len(roles)]


class Mirrored(Design):
    """Matches of two agents: one plays the Werewolves and the other the village, and then, dealt from the same seed,
    the other way round. Names, seats and roles are the same in both games: what differs is who plays which side.

    Args:
        agents: at least two, each once; every two of them meet in each cycle.
        seed: the study's; it decides in what order.
    """

    kind = "mirrored"
    rotation = 2
    deals = 2

    def __init__(self, agents: tuple[str, ...], seed: str) -> None:
        self._matches = list(itertools.combinations(agents, 2))
        self._seed = seed
        self.cycle = 2 * len(self._matches)

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:
        """Return one agent for the Werewolves' side and the other for the villagers'."""
        match, is_second = divmod(number - 1, 2)
        turn, place = divmod(match, len(self._matches))
        pair = shuffled(self._seed, f"study matches {turn}", self._matches)[place]
        first, second = shuffled(self._seed, f"study sides {match}", pair)
        wolves, village = (second, first) if is_second else (first, second)
        return tuple(wolves if team_of(role) == "werewolves" else village for role in roles)


class Balanced(Design):
    """Rotations of the agents over the role slots.

    The slots of the roles, and as many empty ones as there are more agents than seats, are numbered from 0 to N - 1,
    N a multiple of the number of agents. Within a rotation every agent takes every slot equally often, so that roles
    are equal after each. Where a field of N elements exists, slot s of a game is taken by whom stands at a·s + b: b
    runs through a rotation, a through the N - 1 rotations of a cycle. These maps are sharply two-fold transitive: over
    a cycle, any two agents take any two slots equally often, which is all that "meets the others equally" can mean. For
    other N (6, 10, 12, …) the rotations are drawn, each the most even of a few.

    Args:
        shares: how many places each agent has, against the others.
        slots: role slots of a game.
        seed: the study's; it decides who begins where.
    """

    kind = "balanced"

    def __init__(self, shares: Sequence[tuple[str, int]], slots: Sequence[Role], seed: str) -> None:
        total = sum(share for _, share in shares)
        self._slots = tuple(slots)
        self._copies = math.ceil(len(slots) / total)
        self._seed = seed
        pattern = [agent for agent, share in shares for _ in range(share)]
        self._pattern = shuffled(seed, "study pattern", pattern)
        size = total * self._copies
        self._labels = shuffled(seed, "study slots", range(size))
        self.rotation = total
        field = field_of(size)
        if len(shares) == 1:
            self._maps: list[_Rotation] = [[tuple([0] * size)]]
            self.rotation = self.cycle = self._turns = 1
        elif field is not None:
            self._maps = _affine(field, self._copies)
            self._turns = len(self._maps)
            self.cycle = self._turns * total
        else:
            # each takes a while to seek, and a short study needs few
            self._maps, self._turns = [], _ROTATIONS_SOUGHT
            self._rotations = _search(self._pattern, self._copies, self._slots, self._labels, seed)

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:
        """Return whom the slots of this game's rotation give to the seats, seats of a role in seating order."""
        turn, place = divmod(number - 1, self.rotation)
        cycle, turn = divmod(turn, self._turns)
        if self.cycle is not None:
            # every cycle has an order of its own, so that its beginning does not always favour the same; what was
            # sought, on the other hand, is most even in the order in which it was found
            turn = shuffled(self._seed, f"study cycle {cycle}", range(self._turns))[turn]
        while len(self._maps) <= turn:
            self._maps.append(next(self._rotations))
        positions = self._maps[turn][place]
        agents: dict[Role, list[str]] = {role: [] for role in ROLES}
        for slot, role in enumerate(self._slots):
            agents[role].append(self._pattern[positions[self._labels[slot]]])
        unseated = {role: iter(names) for role, names in agents.items()}
        return tuple(next(unseated[role]) for role in roles)


def shares_of(brains: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return each agent of a list of seats with its number of seats, divided by what all have in common."""
    counts = Counter(brains)
    common = math.gcd(*counts.values())
    return tuple((agent, count // common) for agent, count in counts.items())


def role_slots(counts: dict[Role, int]) -> tuple[Role, ...]:
    """Return the role slots of a game, from how many seats each role has."""
    return tuple(role for role in ROLES for _ in range(counts[role]))


def _affine(field: Field, copies: int) -> list[_Rotation]:
    """Return per rotation and game the place in the pattern of each slot: (a·s + b) div `copies`.

    The elements below `copies` are a subgroup (it divides the order, so it is a power of the characteristic), and the
    multiples of `copies` stand for its cosets.
    """
    order = field.order
    return [
        [
            tuple(field.add(field.multiply(a, slot), b) // copies for slot in range(order))
            for b in range(0, order, copies)
        ]
        for a in range(1, order)
    ]


def _search(
    pattern: Sequence[str], copies: int, slots: Sequence[Role], labels: Sequence[int], seed: str
) -> Iterator[_Rotation]:
    """Yield rotations, each the one of a few drawn that leaves meetings most even."""
    total = len(pattern)
    share = Counter(pattern)
    pairs = {
        (one, other): share[one] * (share[other] if one != other else share[one])
        for one, other in itertools.combinations_with_replacement(sorted(share), 2)
    }
    sides = [("Werewolf" in {one, other}) and one != other for one, other in itertools.combinations(slots, 2)]
    meetings = list(zip(itertools.combinations(labels[: len(slots)], 2), sides, strict=True))
    counts: Counter[tuple[str, str, bool]] = Counter()
    for turn in range(_ROTATIONS_SOUGHT):
        candidates = []
        for candidate in range(_CANDIDATES if total <= _MANY_AGENTS else 1):
            order = shuffled(seed, f"study rotation {turn} {candidate}", range(total * copies))
            games = [tuple((slot + b) % total for slot in order) for b in range(total)]
            met = counts.copy()
            for places in games:
                for (first, second), opposed in meetings:
                    one, other = pattern[places[first]], pattern[places[second]]
                    met[min(one, other), max(one, other), opposed] += 1
            uneven = sum(_spread([met[(*pair, side)] / weight for pair, weight in pairs.items()]) for side in _SIDES)
            candidates.append((uneven, games, met))
        _, games, counts = min(candidates, key=lambda candidate: candidate[0])
        yield games


def _spread(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((value - mean) ** 2 for value in values)


_MODULI: Final[dict[int, tuple[int, tuple[int, ...]]]] = {
    8: (2, (1, 1, 0)),
    9: (3, (1, 0)),
    16: (2, (1, 1, 0, 0)),
    25: (5, (2, 0)),
    27: (3, (1, 2, 0)),
    32: (2, (1, 0, 1, 0, 0)),
}
"""Order to (characteristic, coefficients below the leading one of an irreducible polynomial, the lowest first)."""


def field_of(order: int) -> Field | None:
    """Return the field with so many elements; None if there is none, or none is kept here (beyond 32 only primes)."""
    if order in _MODULI:
        return Field(*_MODULI[order])
    is_prime = order > 1 and all(order % divisor for divisor in range(2, int(order**0.5) + 1))
    return Field(order, (0,)) if is_prime else None


class Field:
    """A finite field; its elements are the numbers from 0, read as digits to the base of its characteristic.

    Args:
        characteristic: a prime.
        modulus: coefficients, below the leading one, of an irreducible polynomial, the lowest first; its length is the
            field's degree.
    """

    def __init__(self, characteristic: int, modulus: tuple[int, ...]) -> None:
        self._base = characteristic
        self._modulus = modulus
        self.order = characteristic ** len(modulus)

    def add(self, one: int, other: int) -> int:
        """Return the sum of two elements."""
        pairs = zip(self._digits(one), self._digits(other), strict=True)
        return self._number([(a + b) % self._base for a, b in pairs])

    def multiply(self, one: int, other: int) -> int:
        """Return the product of two elements."""
        shifted, product = self._digits(one), [0] * len(self._modulus)
        for digit in self._digits(other):
            product = [(total + digit * term) % self._base for total, term in zip(product, shifted, strict=True)]
            moved, carry = [0, *shifted[:-1]], shifted[-1]
            shifted = [(digit - carry * low) % self._base for digit, low in zip(moved, self._modulus, strict=True)]
        return self._number(product)

    def _digits(self, number: int) -> list[int]:
        digits = []
        for _ in self._modulus:
            number, digit = divmod(number, self._base)
            digits.append(digit)
        return digits

    def _number(self, digits: list[int]) -> int:
        number = 0
        for digit in reversed(digits):
            number = number * self._base + digit
        return number
