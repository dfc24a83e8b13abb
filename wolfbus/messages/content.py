"""What a seat answers: one content type per kind of request."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from wolfbus.messages.base import Part, SeatName, Unit, Whole
from wolfbus.messages.claims import Claim
from wolfbus.vocabulary import Deception, Kind


class Bid(Part):
    """How much a seat wants the next turn of the debate."""

    bid: Whole
    """Urgency, 0 to the config's `bid_max`; the referee checks the range."""


class Speech(Part):
    """One public statement."""

    text: str
    """The words everybody hears; blank counts as silence."""
    claims: tuple[Claim, ...] = Field(default=(), exclude_if=lambda claims: not claims)
    """What the words assert, for the moderator and researchers only."""


class Label(Part):
    """A speaker's own assessment of its last statement (paper, section 4.2)."""

    deceptive: bool
    """d: whether the statement was meant to deceive; it decides over `kind`."""
    confidence: Unit
    """c in [0, 1]."""
    kind: Deception = Field(default="none", exclude_if=lambda kind: kind == "none")
    """Which kind of deception; "none" exactly where `deceptive` is false, once the moderator has taken it in."""
    stated_kind: Deception | None = None
    """The kind as it was given, where `deceptive` overruled it."""
    reasoning: str = Field(default="", exclude_if=lambda reasoning: not reasoning)
    """Why, in the speaker's words."""


class Judgement(Part):
    """An observer's assessment of another's statement (paper, section 4.2)."""

    deceptive: bool
    """d: whether the observer flags the statement."""
    suspicion: Unit
    """s in [0, 1]: 0 full trust, 1 certainty of deception."""
    confidence: Unit
    """c in [0, 1]."""
    kind: Deception = Field(default="none", exclude_if=lambda kind: kind == "none")
    """Which kind of deception; "none" exactly where `deceptive` is false, once the moderator has taken it in."""
    stated_kind: Deception | None = None
    """The kind as it was given, where `deceptive` overruled it."""
    reasoning: str = Field(default="", exclude_if=lambda reasoning: not reasoning)
    """Why, in the observer's words."""


class Ballot(Part):
    """A sealed vote with its public reason."""

    target: SeatName | None = None
    """Whom to exile; None abstains."""
    reason: str | None = None
    """Words published with the vote; given, they are a statement of phase "vote"."""
    claims: tuple[Claim, ...] = Field(default=(), exclude_if=lambda claims: not claims)
    """What the reason asserts, for the moderator and researchers only."""


class Choice(Part):
    """A night action: whom to kill, protect or inspect."""

    target: SeatName | None = None
    """None means nobody, where the config makes that legal."""


class Proposal(Part):
    """One wolf's proposal to its partners."""

    target: SeatName | None = None
    """Whom to kill; None proposes nobody."""
    word: str = ""
    """What the partners hear beside the name."""


Content: TypeAlias = Bid | Speech | Label | Judgement | Ballot | Choice | Proposal

CONTENT: dict[Kind, type[Content]] = {
    "bid": Bid,
    "speak": Speech,
    "assess_own": Label,
    "assess_other": Judgement,
    "vote": Ballot,
    "kill": Choice,
    "protect": Choice,
    "inspect": Choice,
    "whisper": Proposal,
}
"""Content type per kind of request."""

StatementNumber: TypeAlias = Annotated[int, Field(ge=1, le=2**53 - 1)]
"""Statements count from 1 within a game."""
