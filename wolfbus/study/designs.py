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
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args, overload

from wolfbus.draws import shuffled
from wolfbus.vocabulary import ROLES, Role

DesignKind: TypeAlias = Literal["fixed", "shuffle", "balanced", "mirrored", "joined"]
KINDS_OF_DESIGN: Final[tuple[DesignKind, ...]] = get_args(DesignKind)

_ROTATIONS_SOUGHT: Final = 48
"""Rotations after which a cycle without an exact design begins anew."""
_CANDIDATES: Final = 12
"""Arrangements tried for each such rotation; the one that leaves meetings most even is taken."""
_MANY: Final = 32
"""Agents beyond which only one is tried."""
_SIDES: Final = (False, True)

_Rotation: TypeAlias = list[tuple[int, ...]]
"""Per game of a rotation, the place in the pattern of each slot."""


@dataclass(frozen=True, slots=True)
class Fixed:
    """Seat i is always the same agent's."""

    agents: tuple[str, ...]
    kind: DesignKind = "fixed"
    rotation: int = 1
    cycle: int | None = None
    deals: int = 1

    def places(self, _number: int, _roles: Sequence[Role]) -> tuple[str, ...]:
        """Return the agents as they were given."""
        return self.agents


@dataclass(frozen=True, slots=True)
class Shuffle:
    """Every game draws anew who sits where; of more agents than seats, also who plays.

    Attributes:
        agents: as many entries as seats, or more.
        seed: the study's.
    """

    agents: tuple[str, ...]
    seed: str
    kind: DesignKind = "shuffle"
    rotation: int = 1
    cycle: int | None = None
    deals: int = 1

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:
        """Return a draw of its own for each game."""
        return shuffled(self.seed, f"study seats {number}", self.agents)[: len(roles)]


@dataclass(frozen=True, slots=True)
class Mirrored:
    """Matches of two agents: one plays the Werewolves and the other the village, and then, dealt from the same seed,
    the other way round. Names, seats and roles are the same in both games: what differs is who plays which side.

    Attributes:
        agents: at least two, each once; every two of them meet in each cycle.
        seed: the study's; it decides in what order.
    """

    agents: tuple[str, ...]
    seed: str
    kind: DesignKind = "mirrored"
    rotation: int = 2
    deals: int = 2

    @property
    def cycle(self) -> int:
        """Games until all have met all."""
        return len(self.agents) * (len(self.agents) - 1)

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:
        """Return one agent for the Werewolves and the other for everybody else."""
        match, again = divmod(number - 1, 2)
        matches = list(itertools.combinations(self.agents, 2))
        turn, place = divmod(match, len(matches))
        pair = shuffled(self.seed, f"study matches {turn}", matches)[place]
        first, second = shuffled(self.seed, f"study sides {match}", pair)
        wolves, village = (second, first) if again else (first, second)
        return tuple(wolves if role == "Werewolf" else village for role in roles)


@dataclass(frozen=True, slots=True)
class Joined:
    """Whoever has joined a house plays; who that is, is known once a game has begun."""

    kind: DesignKind = "joined"
    rotation: int = 1
    cycle: int | None = None
    deals: int = 1

    def places(self, _number: int, _roles: Sequence[Role]) -> tuple[str, ...]:
        """Return nobody."""
        return ()


class Balanced:
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

    kind: DesignKind = "balanced"
    deals = 1

    def __init__(self, shares: Sequence[tuple[str, int]], slots: Sequence[Role], seed: str) -> None:
        whole = sum(share for _, share in shares)
        self._slots = tuple(slots)
        self._copies = math.ceil(len(slots) / whole)
        self._seed = seed
        pattern = [agent for agent, share in shares for _ in range(share)]
        self._pattern = shuffled(seed, "study pattern", pattern)
        size = whole * self._copies
        self._labels = shuffled(seed, "study slots", range(size))
        self.rotation = whole
        field = field_of(size)
        self._maps: Sequence[_Rotation]
        self.cycle: int | None = None
        if len(shares) == 1:
            self._maps, self.cycle = [[tuple([0] * size)]], 1
            self.rotation = 1
        elif field is not None:
            self._maps = _affine(field, self._copies)
            self.cycle = len(self._maps) * whole
        else:
            self._maps = _Sought(_sought(self._pattern, self._copies, self._slots, self._labels, seed))

    def places(self, number: int, roles: Sequence[Role]) -> tuple[str, ...]:
        """Return whom the slots of this game's rotation give to the seats, seats of a role in seating order."""
        turn, place = divmod(number - 1, self.rotation)
        again, turn = divmod(turn, len(self._maps))
        if self.cycle is not None:
            # every cycle has an order of its own, so that its beginning does not always favour the same; what was
            # sought, on the other hand, is most even in the order in which it was found
            turn = shuffled(self._seed, f"study cycle {again}", range(len(self._maps)))[turn]
        where = self._maps[turn][place]
        free: dict[Role, list[str]] = {role: [] for role in ROLES}
        for slot, role in enumerate(self._slots):
            free[role].append(self._pattern[where[self._labels[slot]]])
        taken: Counter[Role] = Counter()
        seated = []
        for role in roles:
            seated.append(free[role][taken[role]])
            taken[role] += 1
        return tuple(seated)


Design: TypeAlias = Fixed | Shuffle | Balanced | Mirrored | Joined
"""Who takes which place: `places` gives the agent of each seat of a game, given its number and its seats' roles.

Every design has a `kind`; a `rotation`, the number of games after which every agent has had every role in proportion to
its share of the seats (1 where nothing of the kind is promised; of mirrored games, the two of a match); a `cycle`, the
number after which meetings are equal too (None where no number makes them so for sure); and `deals`, how many games in
a row are dealt from one seed."""


def shares_of(brains: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Return each agent of a list of seats with its number of seats, divided by what all have in common."""
    counts = Counter(brains)
    common = math.gcd(*counts.values())
    return tuple((agent, count // common) for agent, count in counts.items())


def role_slots(counts: dict[Role, int]) -> tuple[Role, ...]:
    """Return the role slots of a game, from how many seats each role has."""
    return tuple(role for role in ROLES for _ in range(counts[role]))


class _Sought(Sequence[_Rotation]):
    """Rotations that are sought when they are asked for: each takes a while, and a short study needs few."""

    def __init__(self, found: Iterator[_Rotation]) -> None:
        self._left = found
        self._found: list[_Rotation] = []

    def __len__(self) -> int:
        return _ROTATIONS_SOUGHT

    @overload
    def __getitem__(self, turn: int) -> _Rotation: ...
    @overload
    def __getitem__(self, turn: slice) -> Sequence[_Rotation]: ...
    def __getitem__(self, turn: int | slice) -> _Rotation | Sequence[_Rotation]:
        if isinstance(turn, slice):
            return [self[each] for each in range(*turn.indices(len(self)))]
        while len(self._found) <= turn:
            self._found.append(next(self._left))
        return self._found[turn]


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


def _sought(
    pattern: Sequence[str], copies: int, slots: Sequence[Role], labels: Sequence[int], seed: str
) -> Iterator[_Rotation]:
    """Yield rotations, each the one of a few drawn that leaves meetings most even."""
    whole = len(pattern)
    share = Counter(pattern)
    pairs = {
        (one, other): share[one] * (share[other] if one != other else share[one])
        for one, other in itertools.combinations_with_replacement(sorted(share), 2)
    }
    sides = [("Werewolf" in {one, other}) and one != other for one, other in itertools.combinations(slots, 2)]
    meetings = list(zip(itertools.combinations(labels[: len(slots)], 2), sides, strict=True))
    have: Counter[tuple[str, str, bool]] = Counter()
    for turn in range(_ROTATIONS_SOUGHT):
        tried = []
        for candidate in range(_CANDIDATES if whole <= _MANY else 1):
            order = shuffled(seed, f"study rotation {turn} {candidate}", range(whole * copies))
            games = [tuple((slot + b) % whole for slot in order) for b in range(whole)]
            met = have.copy()
            for places in games:
                for (here, there), opposed in meetings:
                    one, other = pattern[places[here]], pattern[places[there]]
                    met[min(one, other), max(one, other), opposed] += 1
            uneven = sum(_spread([met[(*pair, kind)] / weight for pair, weight in pairs.items()]) for kind in _SIDES)
            tried.append((uneven, candidate, games, met))
        _, _, games, have = min(tried, key=lambda each: each[:2])
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
            product = [(have + digit * more) % self._base for have, more in zip(product, shifted, strict=True)]
            shifted = self._times_x(shifted)
        return self._number(product)

    def _times_x(self, digits: list[int]) -> list[int]:
        carry = digits[-1]
        moved = [0, *digits[:-1]]
        return [(digit - carry * low) % self._base for digit, low in zip(moved, self._modulus, strict=True)]

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
