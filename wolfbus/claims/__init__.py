"""Claims: what statements assert in a form that the hidden state can confirm or refute.

`wolfbus.claims.kinds` says what each kind of claim is, and `verdict` what a claim turns out to be: the rules of the
game need no more. `wolfbus.claims.hearing` finds claims in free words; whoever reads statements loads it.
"""

from __future__ import annotations

from collections.abc import Iterable

from wolfbus.claims.kinds import CHECKABLE, KINDS, ClaimKind, implies, kind_named, kind_of, same_claim
from wolfbus.game.vocabulary import Verdict
from wolfbus.knowledge.truth import Facts
from wolfbus.messages.base import SeatName
from wolfbus.messages.content import Claim, ScoredClaim
from wolfbus.messages.events import ClaimTruth, Statement


def verdict(facts: Facts, speaker: SeatName, claim: Claim) -> Verdict:
    """Return what a claim by `speaker` turns out to be, with what is true and what the speaker knows now.

    A claim about somebody who does not play is uncheckable.
    """
    if claim.target not in facts.roles:
        return "uncheckable"
    return kind_of(claim).verdict(facts, speaker, claim)


def scored(
    facts: Facts, speaker: SeatName, claims: Iterable[Claim], *, extracted: bool = False
) -> tuple[ScoredClaim, ...]:
    """Return claims, each with its verdict.

    Args:
        facts: what is true as the statement is made.
        speaker: who makes it.
        claims: what it claims.
        extracted: whether they were found in the words rather than given by the speaker.
    """
    return tuple(
        ScoredClaim(claim=claim, verdict=verdict(facts, speaker, claim), extracted=extracted) for claim in claims
    )


def claim_truth(facts: Facts, statement: Statement, claims: Iterable[Claim]) -> ClaimTruth:
    """Return the verdicts on all claims that a speaker attached to a statement."""
    return ClaimTruth(statement=statement.statement, claims=scored(facts, statement.speaker, claims))


__all__ = [
    "CHECKABLE",
    "KINDS",
    "ClaimKind",
    "claim_truth",
    "implies",
    "kind_named",
    "kind_of",
    "same_claim",
    "scored",
    "verdict",
]
