"""Objective truth: claims scored against the hidden state and against what the speaker itself knows.

A false claim is a *lie* when the speaker's own view at that moment entails that it is false, a *mistake* when it does
not; to call somebody a Werewolf whom one knows to be none is a lie. What a view entails is computed exactly from: the
own role, partners, inspections, protections, revealed roles and teams, the role counts, night victims (no wolf is a
legal kill), and that the game goes on now (at least one wolf lives, fewer than the others); what only an earlier moment
would rule out is not.

The moderator scores the claims that speakers attach, analytics those that it finds in the words: with one scoring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim, InspectionClaim, ProtectionClaim, RoleClaim, ScoredClaim
from wolfbus.messages.events import ClaimTruth, Statement
from wolfbus.vocabulary import Role, Team, Verdict


class Facts(Protocol):
    """What is true of a game at one moment, and who knows it."""

    @property
    def roles(self) -> Mapping[SeatName, Role]:
        """Role of every player, dead ones included; the role counts, which everybody knows, follow from it."""

    @property
    def living(self) -> Collection[SeatName]:
        """Players still in the game."""

    @property
    def inspected(self) -> Mapping[SeatName, Mapping[SeatName, Role]]:
        """Per seer, what it learned of whom."""

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


def claim_truth(facts: Facts, statement: Statement, claims: Sequence[Claim]) -> ClaimTruth:
    """Return the verdicts on all claims of a statement."""
    scored = tuple(ScoredClaim(claim=claim, verdict=verdict(facts, statement.speaker, claim)) for claim in claims)
    return ClaimTruth(statement=statement.statement, claims=scored)


def verdict(facts: Facts, speaker: SeatName, claim: Claim) -> Verdict:
    """Return what a claim by `speaker` is, now."""
    if claim.target not in facts.roles:
        return "uncheckable"
    if isinstance(claim, InspectionClaim):
        # who inspected whom, and with what result, its maker always knows
        return "true" if _inspected(facts, speaker, claim) else "lie"
    if isinstance(claim, ProtectionClaim):
        return "true" if _protected(facts, speaker, claim) else "lie"
    role = claim.role if isinstance(claim, RoleClaim) else "Werewolf"
    if facts.roles[claim.target] == role:
        return "true"
    return "mistake" if thinkable(facts, speaker, claim.target, role) else "lie"


def _inspected(facts: Facts, speaker: SeatName, claim: InspectionClaim) -> bool:
    return facts.inspected.get(speaker, {}).get(claim.target) == claim.role and (
        claim.round is None or facts.inspected_in.get((speaker, claim.target)) == claim.round
    )


def _protected(facts: Facts, speaker: SeatName, claim: ProtectionClaim) -> bool:
    nights = facts.protected.get(speaker, {})
    if claim.round is None:
        return claim.target in nights.values()
    return nights.get(claim.round) == claim.target


def thinkable(facts: Facts, observer: SeatName, target: SeatName, role: Role) -> bool:
    """Return whether, for all that `observer` knows, `target` could be the `role`.

    Exact: it asks whether any deal of the role counts agrees with what the observer knows and has `target` as `role`.
    """
    known, not_wolves = knowledge(facts, observer)
    if target in known:
        return known[target] == role
    if role == "Werewolf" and target in not_wolves:
        return False
    known[target] = role
    left = Counter(facts.roles.values())
    left.subtract(known.values())
    if min(left.values()) < 0:
        return False
    return _wolves_fit(facts, known, not_wolves, left["Werewolf"])


def _wolves_fit(facts: Facts, known: dict[SeatName, Role], not_wolves: set[SeatName], wolves_left: int) -> bool:
    """Return whether the unknown wolves can be seated so that the game goes on: 1 ≤ living wolves < living others."""
    open_seats = [name for name in facts.roles if name not in known and name not in not_wolves]
    open_living = sum(1 for name in open_seats if name in facts.living)
    open_dead = len(open_seats) - open_living
    known_living = sum(1 for name in facts.living if known.get(name) == "Werewolf")
    for living in range(min(wolves_left, open_living) + 1):
        wolves = known_living + living
        if wolves_left - living <= open_dead and 1 <= wolves < len(facts.living) - wolves:
            return True
    return False


def knowledge(facts: Facts, observer: SeatName) -> tuple[dict[SeatName, Role], set[SeatName]]:
    """Return what `observer` knows for certain: roles by name, and who is no Werewolf though the role is unknown."""
    roles = facts.roles
    known: dict[SeatName, Role] = {observer: roles[observer]}
    known.update(facts.inspected.get(observer, {}))
    not_wolves = set(facts.night_victims)
    if roles[observer] == "Werewolf":
        for name, role in roles.items():
            if role == "Werewolf":
                known[name] = role
            else:
                not_wolves.add(name)
    for name, shown in facts.revealed.items():
        if shown == "villagers":
            not_wolves.add(name)
        else:
            known[name] = "Werewolf" if shown == "werewolves" else shown
    wolves = sum(1 for role in roles.values() if role == "Werewolf")
    if wolves == sum(1 for role in known.values() if role == "Werewolf"):
        not_wolves.update(name for name in roles if name not in known)
    return known, not_wolves - known.keys()


def entailed(facts: Facts, observer: SeatName) -> frozenset[SeatName]:
    """Return the players of whom `observer` can tell whether they are Werewolves: its view entails it.

    Werewolves know each other, so they can tell of everybody; a Seer can of whom it inspected, everybody of night
    victims and of what was revealed; and all that follows from these with the role counts and with the game's going on.
    """
    known, not_wolves = knowledge(facts, observer)
    living = set(facts.living)
    # what is known of one living player of whom nothing else is known is known of all of them, and so of the dead
    unknown = facts.roles.keys() - known.keys() - not_wolves
    here, gone = unknown & living, unknown - living
    wolves = [name for name, role in known.items() if role == "Werewolf"]
    left = sum(1 for role in facts.roles.values() if role == "Werewolf") - len(wolves)
    known_here = sum(1 for name in wolves if name in living)
    # how many of the unknown who live may be Werewolves
    possible = [
        count
        for count in range(min(left, len(here)) + 1)
        if left - count <= len(gone) and 1 <= known_here + count < len(living) - known_here - count
    ]
    found = {*known, *not_wolves}
    if possible and (max(possible) == 0 or min(possible) == len(here)):
        found |= here
    if possible and (min(possible) == left or left - max(possible) == len(gone)):
        found |= gone
    return frozenset(found)
