"""What could be known of who is who: the posterior over all deals of the roles, exact, from what a seat was told.

A *deal* says who has which role. There are few enough to go through all of them: 840 for eight seats as in the paper,
240,240 for sixteen with four Werewolves, a Seer and a Doctor. What everybody was told rules deals out, what one seat
was told rules out more of them for that seat, and what was claimed in public weighs those that are left.

There are three rungs, and each believes more than the one before:

facts
    Hard facts alone. Whoever dies at night is no Werewolf; roles and teams that are revealed; after every night and
    every vote that the game survived, at least one Werewolf lived and fewer than the others; in a night in which nobody
    died a Doctor protected the target. All deals that are left are equally likely. Living players of whom nothing is
    known but what everybody was told cannot be told apart by this.
honest
    Whoever is no Werewolf speaks the truth about its own role and about what it did and saw at night. Where no deal
    agrees with all such claims, those deals count which the fewest of them contradict.
rates
    Each role makes true and false claims of each sort as often as it did in other games (`ClaimRates`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from wolfbus.claims import KINDS, kind_of
from wolfbus.errors import RulesError
from wolfbus.game.config import GameConfig
from wolfbus.game.roles import FACTS, team_of
from wolfbus.game.vocabulary import ROLES, Kind, Role, Team
from wolfbus.knowledge.departure import departure
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim
from wolfbus.messages.events import Dawn, Departing
from wolfbus.messages.requests import PublicFact, Revealed

Mask: TypeAlias = npt.NDArray[np.bool_]
Deals: TypeAlias = npt.NDArray[np.int8]
"""A deal a row, a seat a column; the roles by their number in `ROLES`. What lies together is a column, for all that is
asked of deals is asked of single seats.
"""
Probabilities: TypeAlias = npt.NDArray[np.float64]
Rung: TypeAlias = Literal["facts", "honest", "rates"]

MOST_DEALS: Final = 1_000_000
"""A game with more deals than this has no posterior; all of them are held in memory."""

_NUMBER: Final[Mapping[Role, int]] = {role: number for number, role in enumerate(ROLES)}
_WOLF: Final = _NUMBER["Werewolf"]
_WOLVES: Final = [number for role, number in _NUMBER.items() if team_of(role) == "werewolves"]
"""Numbers of the roles that win with the Werewolves."""


def _roles_that(act: Kind) -> list[int]:
    return [_NUMBER[role] for role, facts in FACTS.items() if act in facts.acts]


_PROTECT: Final = _roles_that("protect")


def count_deals(counts: Sequence[int]) -> int:
    """Return in how many ways roles can be dealt, of each of which there are so many."""
    left, deals = sum(counts), 1
    for count in counts:
        deals *= comb(left, count)
        left -= count
    return deals


@lru_cache(maxsize=4)
def all_deals(counts: tuple[int, ...]) -> Deals:
    """Return all deals of roles, in the order of `ROLES`, of each of which there are so many; read-only.

    The last are kept: those of eight seats take milliseconds to make, those of sixteen tenths of a second.

    Raises:
        RulesError: there are more than `MOST_DEALS`.
    """
    if count_deals(counts) > MOST_DEALS:
        raise RulesError(f"there are {count_deals(counts):,} deals; a posterior goes through {MOST_DEALS:,} at most")
    seats = sum(counts)
    # role by role: every way to give it to seats that have none yet
    deals = np.full((1, seats), -1, dtype=np.int8)
    for number, count in enumerate(counts):
        free = np.nonzero(deals < 0)[1].reshape(len(deals), -1)
        ways = list(combinations(range(free.shape[1]), count))
        places = np.array(ways, dtype=np.intp).reshape(len(ways), count)
        chosen = free[:, places].reshape(len(deals) * len(ways), count)
        deals = np.repeat(deals, len(places), axis=0)
        np.put_along_axis(deals, chosen, np.int8(number), axis=1)
    deals = np.asfortranarray(deals)
    deals.flags.writeable = False
    return deals


def _among(deals: Deals, seats: Iterable[int], numbers: Iterable[int]) -> Mask:
    """Return in which deals one of some seats at least has one of some roles."""
    among: Mask = np.zeros(len(deals), dtype=np.bool_)
    numbers = tuple(numbers)
    for seat in seats:
        for number in numbers:
            among |= deals[:, seat] == number
    return among


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What one seat knows that not everybody does.

    Attributes:
        seat: the seat.
        roles: roles that it knows for certain: its own, its partners', what it inspected.
        protected: whom it protected, by round.
    """

    seat: SeatName
    roles: Mapping[SeatName, Role]
    protected: Mapping[int, SeatName] = field(default_factory=dict)


class ClaimSort(NamedTuple):
    """What sort of claim a claim is, if a deal holds; what `ClaimRates` counts.

    Attributes:
        claim: "own role"; the kind of a claim to have done something ("inspection", "protection"); or "of another":
            somebody else's role, or that somebody is a Werewolf.
        role: the role that is claimed; of an inspection or of another's role, "Werewolf" or "Villager" for the side.
            None where no role is claimed, as of a protection.
        true: whether it is true.
    """

    claim: str
    role: Role | None
    true: bool


def _sorts() -> tuple[ClaimSort, ...]:
    sides: tuple[Role, ...] = ("Werewolf", "Villager")
    pairs: list[tuple[str, Role | None]] = [("own role", role) for role in ROLES]
    pairs += [("of another", side) for side in sides]
    for name, kind in KINDS.items():
        if kind.act is not None:
            pairs += [(name, side) for side in (sides if kind.names_role else (None,))]
    return tuple(ClaimSort(claim, role, true) for claim, role in pairs for true in (True, False))


SORTS: Final = _sorts()


@dataclass(frozen=True, slots=True)
class ClaimRates:
    """How often each role makes claims of each sort: P(sort | a claim is made, role of who makes it).

    Attributes:
        log_rates: natural logarithms, a row for each of `ROLES`, a column for each of `SORTS`.
    """

    log_rates: npt.NDArray[np.float64]

    @classmethod
    def fit(cls, claims: Iterable[tuple[Role, ClaimSort]]) -> ClaimRates:
        """Return the rates in games whose roles are known: for every claim, the role of its maker and what sort it was.

        Each role is taken to have made half a claim of each sort beside those: so no sort is impossible, and a role
        that never made a claim makes all sorts alike.
        """
        counts = np.full((len(ROLES), len(SORTS)), 0.5)
        for role, sort in claims:
            counts[_NUMBER[role], SORTS.index(sort)] += 1
        return cls(np.log(counts / counts.sum(axis=1, keepdims=True)))


class Posterior:
    """The posterior over the deals of one game, as it goes on; feed it the public facts in order.

    Args:
        config: the rules; how many there are of each role, and whether a kill was due in a night.
        names: the players, in seating order.
        rates: of claims, for the rung "rates"; None where that is not asked for.

    Raises:
        RulesError: there are more deals than `MOST_DEALS`.
    """

    def __init__(self, config: GameConfig, names: Sequence[SeatName], rates: ClaimRates | None = None) -> None:
        self._config = config
        self._seats = {name: number for number, name in enumerate(names)}
        self._deals = all_deals(tuple(config.count(role) for role in ROLES))
        self._rates = rates
        self._living = set(self._seats.values())
        self._night = 0
        self._check_is_due = False
        self._quiet_nights: dict[int, frozenset[int]] = {}
        self._claims: set[tuple[SeatName, Claim]] = set()
        deals = len(self._deals)
        self._guarded: Mask = np.ones(deals, dtype=np.bool_)
        """Whether every night in which nobody died had somebody who could have protected the target."""
        self._contradicted = np.zeros(deals, dtype=np.int16)
        """How many first-hand claims of players who are no Werewolves are untrue."""
        self._log_rates = np.zeros(deals)

    # -- what is told

    def hear(self, fact: PublicFact | Departing) -> None:
        """Take in a public fact; words are heard by `claim`."""
        if isinstance(fact, Dawn):
            self._dawn(fact.round, fact.died)
        elif isinstance(fact, Departing):
            left = departure(fact)
            self._leave(None if left is None else left.seat)
        elif isinstance(fact, Revealed):
            for name, role_or_team in fact.roles.items():
                self._reveal(name, role_or_team)
        else:
            self._check()
        if (departed := departure(fact)) is not None:
            self._reveal(departed.seat, departed.revealed)

    def claim(self, speaker: SeatName, claims: Iterable[Claim]) -> list[Claim]:
        """Take in what a statement claims; a claim that its speaker repeats counts once.

        Claims that say nothing of who has which role, nor of what only some roles do, change nothing.

        Returns:
            The claims that were taken in, without the nights that they name.
        """
        taken_in: list[Claim] = []
        for claim in claims:
            if not _is_about_deals(claim):
                continue
            plain = claim if getattr(claim, "round", None) is None else claim.model_copy(update={"round": None})
            if (speaker, plain) in self._claims or plain.target not in self._seats:
                continue
            self._claims.add((speaker, plain))
            self._check()
            if kind_of(plain).first_hand(plain, speaker):
                seat = self._seats[speaker]
                self._contradicted += ~(self._holds(seat, plain) | _among(self._deals, [seat], _WOLVES))
            if self._rates is not None:
                self._log_rates += self._rated(self._rates, speaker, plain)
            taken_in.append(plain)
        return taken_in

    def _dawn(self, night: int, died: SeatName | None) -> None:
        self._check()
        if died is not None:
            self._keep(self._deals[:, self._seats[died]] != _WOLF)
        elif not self._config.kill_optional and (night > 1 or self._config.first_night_kill):
            self._quiet_nights[night] = frozenset(self._living)
            self._guarded &= _among(self._deals, self._living, _PROTECT)
        self._leave(died)

    def _leave(self, name: SeatName | None) -> None:
        if name is not None:
            self._living.discard(self._seats[name])
        self._check_is_due = True

    def _check(self) -> None:
        """Rule out, since the game went on, deals with which it would have been over."""
        if not self._check_is_due:
            return
        self._check_is_due = False
        wolves = np.zeros(len(self._deals), dtype=np.int8)
        for seat in self._living:
            wolves += self._deals[:, seat] == _WOLF
        self._keep((wolves >= 1) & (wolves < len(self._living) - wolves))

    def _reveal(self, name: SeatName | None, role_or_team: Role | Team | None) -> None:
        if name is None or role_or_team is None:
            return
        roles = [number for role, number in _NUMBER.items() if role_or_team in {role, team_of(role)}]
        self._keep(_among(self._deals, [self._seats[name]], roles))

    def _keep(self, possible: Mask) -> None:
        if not possible.all():
            self._deals, self._guarded = np.compress(possible, self._deals.T, axis=1).T, self._guarded[possible]
            self._contradicted, self._log_rates = self._contradicted[possible], self._log_rates[possible]

    # -- claims

    def _holds(self, speaker: int, claim: Claim) -> Mask:
        """Return in which deals a claim is true, as far as a deal says."""
        kind = kind_of(claim)
        role = kind.role_told(claim)
        holds: Mask = np.ones(len(self._deals), dtype=np.bool_)
        if role is not None:
            holds = self._deals[:, self._seats[claim.target]] == _NUMBER[role]
        return holds if kind.act is None else holds & _among(self._deals, [speaker], _roles_that(kind.act))

    def _rated(self, rates: ClaimRates, speaker: SeatName, claim: Claim) -> npt.NDArray[np.float64]:
        """Return the logarithm of how likely the claim is in each deal.

        It follows from the speaker's role and whether the claim is true. Of a sort that is about others, each player of
        whom such a claim would be as true or as false is as likely to be named as any other.
        """
        kind, sort = kind_of(claim), _sort_of(speaker, claim)
        role, actors = kind.role_told(claim), range(len(ROLES)) if kind.act is None else _roles_that(kind.act)
        likely = rates.log_rates[:, [SORTS.index(sort._replace(true=true)) for true in (False, True)]]
        if claim.target != speaker:
            others = len(self._seats) - 1
            for number, speaks in enumerate(ROLES):
                fitting = others if role is None else self._config.count(role) - (speaks == role)
                true = fitting if number in actors else 0
                # a speaker with nobody to name truly, or falsely, names nobody so
                likely[number] -= np.log(np.maximum([others - true, true], 1))
        seat = self._seats[speaker]
        rated: npt.NDArray[np.float64] = likely.reshape(-1)[2 * self._deals[:, seat] + self._holds(seat, claim)]
        return rated

    # -- what is asked

    def probabilities(self, knowledge: Sequence[Knowledge], rung: Rung, role: Role = "Werewolf") -> Probabilities:
        """Return how likely it is, for what each of some seats knows, that each player has a role.

        Whoever asks this knows that the game goes on.

        Args:
            knowledge: what each of the seats knows beside what everybody was told.
            rung: what is believed.
            role: the role.

        Returns:
            A row a seat, a column a player in seating order; each in [0, 1].

        Raises:
            RulesError: no deal with which the game goes on agrees with what a seat knows; or "rates" is asked for, and
                there are none.
        """
        if rung == "rates" and self._rates is None:
            raise RulesError("no rates of claims were given")
        self._check()
        return np.stack([self._shares(observer, rung, _NUMBER[role]) for observer in knowledge])

    def _shares(self, observer: Knowledge, rung: Rung, number: int) -> Probabilities:
        weights = self._weights(observer, rung)
        # claims leave few deals of the thousands
        some = np.flatnonzero(weights)
        weights = weights[some]
        dealt = (weights[seats == number].sum() for seats in self._deals.T[:, some])
        shares: Probabilities = np.fromiter(dealt, np.float64, len(self._seats)) / weights.sum()
        return shares

    def _weights(self, knowledge: Knowledge, rung: Rung) -> Probabilities:
        possible = self._possible(knowledge)
        if rung == "rates":
            logs = np.where(possible, self._log_rates, -np.inf)
            weights: Probabilities = np.exp(logs - logs.max())
            return weights
        if rung == "honest":
            possible &= self._contradicted == self._contradicted[possible].min()
        return possible.astype(np.float64)

    def _possible(self, knowledge: Knowledge) -> Mask:
        """Return the deals that agree with all that a seat was told."""
        possible: Mask = np.ones(len(self._deals), dtype=np.bool_)
        for name, role in knowledge.roles.items():
            possible &= self._deals[:, self._seats[name]] == _NUMBER[role]
        saved = possible & self._guarded
        for night, living in self._quiet_nights.items():
            protected = knowledge.protected.get(night)
            if protected is not None:
                elsewhere = _among(self._deals, living - {self._seats[knowledge.seat]}, _PROTECT)
                # whom it protected was the target, and so no Werewolf, unless another may have protected the target
                saved &= elsewhere | (self._deals[:, self._seats[protected]] != _WOLF)
        if saved.any():
            return saved
        # nobody died because the Werewolves did not agree on anybody in time
        if not possible.any():
            raise RulesError(f"no deal agrees with what {knowledge.seat} knows")
        return possible


def _is_about_deals(claim: Claim) -> bool:
    """Return whether a claim says who has which role, or what only some roles do."""
    kind = kind_of(claim)
    return not getattr(claim, "denied", False) and (kind.act is not None or kind.role_told(claim) is not None)


def _sort_of(speaker: SeatName, claim: Claim) -> ClaimSort:
    """Return what sort a claim is where it is true."""
    kind = kind_of(claim)
    role = kind.role_told(claim)
    if kind.act is None and kind.first_hand(claim, speaker):
        return ClaimSort("own role", role, true=True)
    side: Role | None = role and ("Werewolf" if team_of(role) == "werewolves" else "Villager")
    return ClaimSort("of another" if kind.act is None else claim.claim, side, true=True)


def sort_of(speaker: SeatName, claim: Claim, roles: Mapping[SeatName, Role]) -> ClaimSort | None:
    """Return what sort a claim was, now that the roles are known; what `ClaimRates.fit` counts.

    None for a claim that says nothing of who has which role, nor of what only some roles do.
    """
    if not _is_about_deals(claim):
        return None
    kind = kind_of(claim)
    does = kind.act is None or _NUMBER[roles[speaker]] in _roles_that(kind.act)
    return _sort_of(speaker, claim)._replace(true=does and kind.role_told(claim) in {None, roles[claim.target]})
