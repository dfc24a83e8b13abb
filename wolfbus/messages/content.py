"""What a seat answers: one content type per kind of request; and the typed claims that stand beside a statement.

A claim says what the statement asserts, in a form that the hidden state can confirm or refute. Claims never travel to
other seats: hearers judge the words.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, create_model

from wolfbus.game.vocabulary import KINDS, Deception, Kind, Role, Verdict
from wolfbus.messages.base import Part, SeatName, Unit, Whole

StatementNumber: TypeAlias = Annotated[int, Field(ge=1, le=2**53 - 1)]
"""Statements count from 1 within a game."""


class Consent(Part):
    """What a person agreed to before it took its seat at a page; it goes with their answers until one is accepted."""

    words: Annotated[str, Field(max_length=1000)]
    """The sentence, as it stood before them."""
    thoughts: Literal["shown", "private"] = "shown"
    """Whether what they think may be shown to others once the game is over; private thoughts stand in the record alone,
    and are left out of pages and exports."""


Strength: TypeAlias = Literal["plain", "hedged"]
"""Whether something is said outright, or as a guess, a hint or a question."""
Side: TypeAlias = Literal["for", "against"]
"""Whether a player is to be trusted, or not."""


class RoleClaim(Part):
    """Asserts "`target` is the `role`", of oneself or of another; or denies it."""

    claim: Literal["role"] = "role"
    target: SeatName
    """Whose role is claimed."""
    role: Role
    """The role claimed, or denied."""
    denied: bool = Field(default=False, exclude_if=lambda denied: not denied)
    """True for "`target` is not the `role`"."""


class InspectionClaim(Part):
    """Asserts "I inspected `target` (in the night of `round`) and saw `role`", or that it was anything else."""

    claim: Literal["inspection"] = "inspection"
    target: SeatName
    """Whom the speaker says it inspected."""
    role: Role
    """What it says it saw."""
    round: Whole | None = None
    """The night it names, if any."""
    denied: bool = Field(default=False, exclude_if=lambda denied: not denied)
    """True for "I inspected `target`, and it is not the `role`"."""


class ProtectionClaim(Part):
    """Asserts "I protected `target` (in the night of `round`)"."""

    claim: Literal["protection"] = "protection"
    target: SeatName
    """Whom the speaker says it protected."""
    round: Whole | None = None
    """The night it names, if any."""


class AccusationClaim(Part):
    """Asserts "`target` is a Werewolf": a lie if the speaker knows better, a mistake if it may think so; hedged, it
    tells a suspicion, as a stance does.
    """

    claim: Literal["accusation"] = "accusation"
    target: SeatName
    """Whom the speaker calls a Werewolf."""
    strength: Strength = Field(default="plain", exclude_if=lambda strength: strength == "plain")
    """Hedged for "I think that `target` is a Werewolf"."""


class StanceClaim(Part):
    """Speaks for or against `target` and says nothing of what it is, which the hidden state could refute; it is
    insincere where the speaker knows the contrary.
    """

    claim: Literal["stance"] = "stance"
    target: SeatName
    """Whom it is about."""
    side: Side
    """Whether the speaker would have others trust it."""
    strength: Strength = "plain"
    """Hedged where it hints, asks or only inclines to it."""


Claim: TypeAlias = Annotated[
    RoleClaim | InspectionClaim | ProtectionClaim | AccusationClaim | StanceClaim, Field(discriminator="claim")
]


class ScoredClaim(Part):
    """A claim with the moderator's verdict."""

    claim: Claim
    """What was claimed."""
    verdict: Verdict
    """What it turns out to be."""
    extracted: bool = False
    """True where the claim was found in the text by pattern rather than given by the speaker."""


class Bid(Part):
    """How much a seat wants the next turn of the debate."""

    bid: Whole
    """Urgency, 0 to the config's `bid_max`; the referee checks the range."""


class Label(Part):
    """A speaker's own assessment of its statement (paper, section 4.2)."""

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


class Speech(Part):
    """One public statement."""

    text: str
    """The words everybody hears; blank counts as silence."""
    claims: tuple[Claim, ...] = Field(default=(), exclude_if=lambda claims: not claims)
    """What the words assert, for the moderator and researchers only."""
    label: Label | None = Field(default=None, exclude_if=lambda label: label is None)
    """The speaker's own label, where the config has it asked with the words; else it is left out."""


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
    label: Label | None = Field(default=None, exclude_if=lambda label: label is None)
    """The voter's own label of the reason, where the config has it asked with the words; else it is left out."""


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

_OWN: Final[dict[Kind, type[Content]]] = {
    "bid": Bid,
    "speak": Speech,
    "assess_own": Label,
    "assess_other": Judgement,
    "vote": Ballot,
    "whisper": Proposal,
}

CONTENT: Final[dict[Kind, type[Content]]] = {kind: _OWN.get(kind, Choice) for kind in KINDS}
"""Content type per kind of request; where nothing else is said, a player is chosen at night."""


def model_for(kind: Kind, base: Any, name: str, doc: str) -> Any:
    """Return the type that carries the content of one kind of request.

    Args:
        kind: which.
        base: what such types share, generic over the content.
        name: its name, with {} for that of the kind.
        doc: what it is, in a sentence.
    """
    tag: Any = Literal[kind]
    return create_model(
        name.format(kind.title().replace("_", "")),
        __base__=base[CONTENT[kind]],
        __module__=base.__module__,
        __doc__=doc,
        kind=(tag, kind),
    )


def published_words(content: object) -> str:
    """Return the words of an answer that everybody is to hear: a statement, or the reason of a vote; "" for none."""
    if isinstance(content, Speech):
        return content.text
    return (content.reason or "") if isinstance(content, Ballot) else ""
