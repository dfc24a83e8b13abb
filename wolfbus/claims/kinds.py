"""Kinds of claims: the one place that says what each of them is.

The wire format of a claim is its class in `wolfbus.messages.content`. Here stands all else that differs from kind to
kind: how it is said in words, when it is true, what it tells of a player's role, and when the words of a statement
bear it out. Rules, rows, figures, the page and the terminal ask here, and so does the posterior over the deals. How a
claim is heard in free words is in `wolfbus.claims.grammar`.
"""

from __future__ import annotations

import typing
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Generic, Protocol, TypeVar

from wolfbus.files.printable import with_article
from wolfbus.game.config import GameConfig
from wolfbus.game.roles import FACTS, team_of
from wolfbus.game.vocabulary import Kind, Role, Verdict
from wolfbus.knowledge.truth import Facts, thinkable
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import (
    AccusationClaim,
    Claim,
    InspectionClaim,
    ProtectionClaim,
    RoleClaim,
    Side,
    StanceClaim,
)

C = TypeVar("C", bound=Claim)

_USUAL: Final = GameConfig()


@dataclass(frozen=True, slots=True)
class FoundClaim:
    """A claim found in words, of players who have no names yet.

    Attributes:
        kind: the kind of claim.
        target: place of the player among the names; None for the speaker.
        role: the role that is named.
        night: the night named.
        opinion: the speaker only thinks so.
        denied: the role is denied; an inspection ruled it out.
        more: members that only claims of this kind have.
    """

    kind: str
    target: int | None
    role: Role | None = None
    night: int | None = None
    opinion: bool = False
    denied: bool = False
    more: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_guess(self) -> bool:
        """Whether it guesses a role, which can be told outright or not at all."""
        return self.kind == "role" and self.opinion

    @property
    def clears(self) -> bool:
        """Whether it tells no more than that an inspection ruled out a role."""
        return self.kind == "inspection" and self.denied


class HeardWords(Protocol):
    """What was heard in the words of one statement."""

    @property
    def speaker(self) -> SeatName:
        """Who made it."""

    @property
    def asserted(self) -> Collection[Claim]:
        """The claims in its words, opinions included."""

    @property
    def cleared(self) -> Collection[SeatName]:
        """Players who were inspected, so the words say, and are no Werewolves."""

    @property
    def against(self) -> Collection[SeatName]:
        """Players whom the words call for to be exiled, or call liars."""


class ClaimKind(ABC, Generic[C]):
    """What one kind of claim is.

    Attributes:
        content: its class on the wire.
        label: what it is called in tables.
        asserts: what such a claim is about, as the list of columns says it.
        act: what its speaker says it did, as the kind of request that asks for it; None where it tells of no deed.
        marked: whether a statement with such a claim is marked on the timeline even where it is no lie.
        checkable: whether such claims can be true or false; those of other kinds can only be insincere.
    """

    content: ClassVar[type[Any]]
    label: ClassVar[str]
    asserts: ClassVar[str]
    act: ClassVar[Kind | None] = None
    marked: ClassVar[bool] = True
    checkable: ClassVar[bool] = True

    @property
    def name(self) -> str:
        """What it is called on the wire."""
        return str(self.content.model_fields["claim"].default)

    @property
    def names_role(self) -> bool:
        """Whether such a claim names a role."""
        return "role" in self.content.model_fields

    def make(self, target: SeatName, **fields: Any) -> C:
        """Return a claim about `target`; members that this kind does not have are left out.

        Raises:
            ValidationError: a member that it needs is missing or unusable.
        """
        members = {name: value for name, value in fields.items() if name in self.content.model_fields}
        claim: C = self.content(target=target, **members)
        return claim

    @abstractmethod
    def says(self, claim: C, speaker: SeatName) -> str:
        """Return the claim in words that go on after the speaker's name, "calls Raj a Werewolf"; without the night."""

    @abstractmethod
    def verdict(self, facts: Facts, speaker: SeatName, claim: C) -> Verdict:
        """Return what a claim turns out to be whose target plays: a lie where what the speaker knows rules it out."""

    def role_told(self, claim: C) -> Role | None:  # noqa: ARG002
        """Return the role that its target has if it is true; None where it leaves that open."""
        return None

    def first_hand(self, claim: C, speaker: SeatName) -> bool:  # noqa: ARG002
        """Return whether the speaker cannot be mistaken: the claim is about its own role, or about what it did."""
        return self.act is not None

    def implies(self, claim: C, other: Claim) -> bool:  # noqa: ARG002
        """Return whether it also asserts what a claim of another kind does."""
        return False

    def borne_out(self, claim: C, words: HeardWords) -> bool:  # noqa: ARG002
        """Return whether words say what the speaker attached to them, though not outright and not as an opinion."""
        return False


class _RoleKind(ClaimKind[RoleClaim]):
    content = RoleClaim
    label = "Role"
    asserts = "somebody's role"

    def says(self, claim: RoleClaim, speaker: SeatName) -> str:
        role = _with_article(claim.role)
        if claim.denied:
            return f"denies being {role}" if claim.target == speaker else f"says that {claim.target} is not {role}"
        return f"claims to be {role}" if claim.target == speaker else f"says that {claim.target} is {role}"

    def verdict(self, facts: Facts, speaker: SeatName, claim: RoleClaim) -> Verdict:
        if claim.denied:
            return _denial_verdict(facts, speaker, claim.target, claim.role)
        return _role_verdict(facts, speaker, claim.target, claim.role)

    def role_told(self, claim: RoleClaim) -> Role | None:
        return None if claim.denied else claim.role

    def first_hand(self, claim: RoleClaim, speaker: SeatName) -> bool:
        return claim.target == speaker

    def implies(self, claim: RoleClaim, other: Claim) -> bool:
        return isinstance(other, RoleClaim) and _rules_out(claim, other)

    def borne_out(self, claim: RoleClaim, words: HeardWords) -> bool:
        if claim.denied:
            return any(kind_of(other).implies(other, claim) for other in words.asserted)
        if claim.target != words.speaker:
            return _is_told(words, claim.target, claim.role)
        # who tells of what only one role does says that it has that role
        acts = FACTS[claim.role].acts
        tells_of_act = any(kind_of(other).act in acts for other in words.asserted)
        return tells_of_act or ("inspect" in acts and bool(words.cleared))


class _InspectionKind(ClaimKind[InspectionClaim]):
    content = InspectionClaim
    label = "Inspection"
    asserts = "having inspected somebody"
    act = "inspect"

    def says(self, claim: InspectionClaim, speaker: SeatName) -> str:  # noqa: ARG002
        return f"reports {claim.target} {'not ' if claim.denied else ''}{_with_article(claim.role)}"

    def verdict(self, facts: Facts, speaker: SeatName, claim: InspectionClaim) -> Verdict:
        # who inspected whom, and with what result, the speaker always knows
        seen = facts.inspected.get(speaker, {}).get(claim.target)
        # a log may tell no more of an inspection than that it showed no Werewolf
        results = {seen} if seen != "villagers" else {"Villager"}
        is_so = (seen is not None and (claim.role in results) != claim.denied) and (
            claim.round is None or facts.inspected_in.get((speaker, claim.target)) == claim.round
        )
        return "true" if is_so else "lie"

    def role_told(self, claim: InspectionClaim) -> Role | None:
        return None if claim.denied else claim.role

    def implies(self, claim: InspectionClaim, other: Claim) -> bool:
        if isinstance(other, RoleClaim | InspectionClaim) and other.denied:
            return _rules_out(claim, other)
        role = self.role_told(claim)
        return claim.target == other.target and role is not None and role == kind_of(other).role_told(other)

    def borne_out(self, claim: InspectionClaim, words: HeardWords) -> bool:
        if claim.denied:
            return any(_rules_out(other, claim) for other in words.asserted if isinstance(other, InspectionClaim))
        if claim.role != "Werewolf":
            return claim.target in words.cleared
        seer = any(other == RoleClaim(target=words.speaker, role="Seer") for other in words.asserted)
        return seer and _is_told(words, claim.target, claim.role)


class _ProtectionKind(ClaimKind[ProtectionClaim]):
    content = ProtectionClaim
    label = "Protection"
    asserts = "having protected somebody"
    act = "protect"

    def says(self, claim: ProtectionClaim, speaker: SeatName) -> str:  # noqa: ARG002
        return f"claims to have protected {claim.target}"

    def verdict(self, facts: Facts, speaker: SeatName, claim: ProtectionClaim) -> Verdict:
        nights = facts.protected.get(speaker, {})
        is_so = claim.target in nights.values() if claim.round is None else nights.get(claim.round) == claim.target
        return "true" if is_so else "lie"


class _AccusationKind(ClaimKind[AccusationClaim]):
    content = AccusationClaim
    label = "Accusation"
    asserts = "somebody's guilt"
    marked = False

    def says(self, claim: AccusationClaim, speaker: SeatName) -> str:  # noqa: ARG002
        if claim.strength == "hedged":
            return f"suspects {claim.target} to be a Werewolf"
        return f"calls {claim.target} a Werewolf"

    def verdict(self, facts: Facts, speaker: SeatName, claim: AccusationClaim) -> Verdict:
        if claim.strength == "hedged":
            return _leaning_verdict(facts, speaker, claim.target, "against")
        return _role_verdict(facts, speaker, claim.target, "Werewolf")

    def role_told(self, claim: AccusationClaim) -> Role | None:
        return "Werewolf" if claim.strength == "plain" else None

    def implies(self, claim: AccusationClaim, other: Claim) -> bool:
        # who calls somebody a Werewolf speaks against it
        return isinstance(other, StanceClaim) and other.target == claim.target and other.side == "against"

    def borne_out(self, claim: AccusationClaim, words: HeardWords) -> bool:
        return claim.target in words.against or _is_told(words, claim.target, "Werewolf")


class _StanceKind(ClaimKind[StanceClaim]):
    content = StanceClaim
    label = "Stance"
    asserts = "whether to trust somebody"
    marked = False
    checkable = False

    def says(self, claim: StanceClaim, speaker: SeatName) -> str:
        who = "itself" if claim.target == speaker else claim.target
        if claim.strength == "plain":
            return f"speaks {claim.side} {who}"
        return f"casts doubt on {who}" if claim.side == "against" else f"speaks for {who}, hedged"

    def verdict(self, facts: Facts, speaker: SeatName, claim: StanceClaim) -> Verdict:
        return _leaning_verdict(facts, speaker, claim.target, claim.side)

    def borne_out(self, claim: StanceClaim, words: HeardWords) -> bool:
        return claim.side == "against" and (
            claim.target in words.against or any(_tells_against(other, claim.target) for other in words.asserted)
        )


def _with_article(role: Role) -> str:
    """Return "the Seer", of whom the usual rules have one, or "a Villager", of whom they have more."""
    return with_article(role) if _USUAL.count(role) > 1 else f"the {role}"


def _role_verdict(facts: Facts, speaker: SeatName, target: SeatName, role: Role) -> Verdict:
    """Return what it turns out to be to say that `target` is the `role`."""
    if facts.roles[target] == role:
        return "true"
    return "mistake" if thinkable(facts, speaker, target, role) else "lie"


def _denial_verdict(facts: Facts, speaker: SeatName, target: SeatName, role: Role) -> Verdict:
    """Return what it turns out to be to say that `target` is not the `role`."""
    if facts.roles[target] != role:
        return "true"
    return (
        "mistake"
        if any(thinkable(facts, speaker, target, other) for other in {*facts.roles.values()} - {role})
        else "lie"
    )


def _leaning_verdict(facts: Facts, speaker: SeatName, target: SeatName, side: Side) -> Verdict:
    """Return "insincere" if the speaker knows of `target` that it is on the other side; nobody can tell otherwise."""
    thinkable_side = any(
        thinkable(facts, speaker, target, role)
        for role in {*facts.roles.values()}
        if (team_of(role) == "werewolves") == (side == "against")
    )
    return "uncheckable" if thinkable_side else "insincere"


def _rules_out(claim: RoleClaim | InspectionClaim, denial: RoleClaim | InspectionClaim) -> bool:
    """Return whether a claim of a role leaves its target no other, and so asserts a denial of another."""
    if claim.target != denial.target or not denial.denied:
        return False
    return (claim.role == denial.role) == claim.denied


def _tells_against(claim: Claim, target: SeatName) -> bool:
    """Return whether a claim in words calls `target` a Werewolf, outright or as an opinion."""
    kind = kind_of(claim)
    return claim.target == target and (kind.role_told(claim) == "Werewolf" or isinstance(claim, AccusationClaim))


def _is_told(words: HeardWords, target: SeatName, role: Role) -> bool:
    """Return whether a claim in the words gives `target` the `role`, outright or as an opinion."""
    return any(
        (other.target == target and kind_of(other).role_told(other) == role)
        or (role == "Werewolf" and _tells_against(other, target))
        for other in words.asserted
    )


_ALL: Final[tuple[ClaimKind[Any], ...]] = (
    _RoleKind(),
    _InspectionKind(),
    _ProtectionKind(),
    _AccusationKind(),
    _StanceKind(),
)

KINDS: Final[Mapping[str, ClaimKind[Any]]] = {kind.name: kind for kind in _ALL}
"""The kinds of claims by their names on the wire, in the order in which tables show them."""

CHECKABLE: Final = tuple(kind for kind in _ALL if kind.checkable)
"""Those that can be true or false."""

_ON_THE_WIRE: Final = {one.model_fields["claim"].default for one in typing.get_args(typing.get_args(Claim)[0])}
if KINDS.keys() != _ON_THE_WIRE:
    raise TypeError(
        f"the kinds of claims in wolfbus/claims/kinds.py ({', '.join(sorted(KINDS))}) are not those in "
        f"wolfbus/messages/content.py ({', '.join(sorted(_ON_THE_WIRE))})"
    )


def kind_named(name: str) -> ClaimKind[Any]:
    """Return the kind of claim of that name.

    Raises:
        LookupError: there is none.
    """
    if name not in KINDS:
        raise LookupError(f"no kind of claim is called {name!r}; wolfbus/claims/kinds.py has {', '.join(KINDS)}")
    return KINDS[name]


def kind_of(claim: Claim) -> ClaimKind[Any]:
    """Return what kind of claim a claim is.

    Raises:
        LookupError: its kind is not known here.
    """
    return kind_named(claim.claim)


def same_claim(claim: Claim, other: Claim) -> bool:
    """Return whether two claims assert the same; a night that only one of them names makes no difference, nor does how
    firmly they do.
    """
    # cheap tests first: comparing whole models is slow
    if claim.claim != other.claim or claim.target != other.target:
        return False
    if claim == other:
        return True
    if claim.claim in {"accusation", "stance"}:
        return getattr(claim, "side", None) == getattr(other, "side", None)
    nights = {night for one in (claim, other) if (night := getattr(one, "round", None)) is not None}
    return len(nights) == 1 and claim.model_copy(update={"round": None}) == other.model_copy(update={"round": None})


def implies(claim: Claim, other: Claim) -> bool:
    """Return whether the first claim asserts what the second does: the same, or what follows from it."""
    if claim.claim == other.claim and same_claim(claim, other):
        return "hedged" not in {getattr(claim, "strength", None)} - {getattr(other, "strength", None)}
    if claim.claim == other.claim and not getattr(other, "denied", False):
        return False
    return kind_of(claim).implies(claim, other)
