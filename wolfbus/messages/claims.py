"""Typed claims: what a statement asserts, in a form that the hidden state can confirm or refute.

A speaker attaches claims beside its statement. They never travel to other seats: hearers judge the words.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from wolfbus.messages.base import Part, SeatName, Whole
from wolfbus.vocabulary import Role, Verdict


class RoleClaim(Part):
    """Asserts "`target` is the `role`", of oneself or of another."""

    claim: Literal["role"] = "role"
    target: SeatName
    """Whose role is claimed."""
    role: Role
    """The role claimed."""


class InspectionClaim(Part):
    """Asserts "I inspected `target` (in the night of `round`) and saw `role`"."""

    claim: Literal["inspection"] = "inspection"
    target: SeatName
    """Whom the speaker says it inspected."""
    role: Role
    """What it says it saw."""
    round: Whole | None = None
    """The night it names, if any."""


class ProtectionClaim(Part):
    """Asserts "I protected `target` (in the night of `round`)"."""

    claim: Literal["protection"] = "protection"
    target: SeatName
    """Whom the speaker says it protected."""
    round: Whole | None = None
    """The night it names, if any."""


class AccusationClaim(Part):
    """Asserts "`target` is a Werewolf": a lie if the speaker knows better, a mistake if it may think so."""

    claim: Literal["accusation"] = "accusation"
    target: SeatName
    """Whom the speaker calls a Werewolf."""


Claim: TypeAlias = Annotated[
    RoleClaim | InspectionClaim | ProtectionClaim | AccusationClaim, Field(discriminator="claim")
]


class ScoredClaim(Part):
    """A claim with the moderator's verdict."""

    claim: Claim
    """What was claimed."""
    verdict: Verdict
    """What it turns out to be."""
    extracted: bool = False
    """True where the claim was found in the text by pattern rather than given by the speaker."""
