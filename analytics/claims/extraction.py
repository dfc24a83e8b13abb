"""`claims_in`: what a statement claims in words (metrics: objective truth).

It would rather miss a claim than invent one. Quotations, questions, conditionals, hypotheses, hearsay, hedged opinions
and denials give nothing; nor do results other than an exact role ("he is innocent").
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from analytics.claims.grammar import Found, Grammar
from analytics.claims.lexicon import WORDS
from analytics.claims.words import said
from wolfbus.messages.base import SeatName
from wolfbus.messages.claims import (
    AccusationClaim,
    Claim,
    InspectionClaim,
    ProtectionClaim,
    RoleClaim,
    ScoredClaim,
)
from wolfbus.truth import Facts, verdict

_HINT: Final = re.compile(
    r"wol[fv]|seer|vil|doc|medic|\bww\b|\bvt\b|town|protec|sav|guard|heal|shield|watch|safe|kept|rescu|prot\b|tended|treated|cured|nursed|bandaged|ward|shelter|covered",
    re.IGNORECASE,
)


def claims_in(text: str, speaker: SeatName, names: Iterable[SeatName], *, opinions: bool = False) -> tuple[Claim, ...]:
    """Return the claims in the order of the words, none twice; () where there are none.

    It raises for no text, and takes time in proportion to it.

    Args:
        text: the statement; what goes beyond 6,000 characters is not read.
        speaker: who says it, "I".
        names: the players of the game; a name counts as a whole word.
        opinions: whether "I think Raj is a Werewolf" counts as well.
    """
    if _HINT.search(text) is None:
        return ()
    seats = tuple(names)
    words = said(text, seats, speaker)
    if not WORDS["retracts"].isdisjoint(words.words) and WORDS["no_jest"].isdisjoint(words.words):
        return ()
    grammar = Grammar(words, len(seats), seats.index(speaker) if speaker in seats else None)
    found: dict[Claim, None] = {}
    for each in grammar.claims():
        if opinions or not each.opinion:
            found[_claim(each, speaker, seats)] = None
    return tuple(found)


def _claim(found: Found, speaker: SeatName, names: tuple[SeatName, ...]) -> Claim:
    target = speaker if found.target is None else names[found.target]
    if found.kind == "protection" or found.role is None:
        return ProtectionClaim(target=target, round=found.night)
    if found.kind == "inspection":
        return InspectionClaim(target=target, role=found.role, round=found.night)
    if found.role == "Werewolf" and found.target is not None:
        return AccusationClaim(target=target)
    return RoleClaim(target=target, role=found.role)


def found_claims(facts: Facts, speaker: SeatName, text: str) -> tuple[ScoredClaim, ...]:
    """Return the claims that are in the words, each with its verdict, marked as extracted.

    Args:
        facts: what is true as the statement is made.
        speaker: who makes it.
        text: its words.
    """
    return tuple(
        ScoredClaim(claim=claim, verdict=verdict(facts, speaker, claim), extracted=True)
        for claim in claims_in(text, speaker, facts.roles)
    )


def same_claim(one: Claim, other: Claim) -> bool:
    """Return whether two claims assert the same; a night that only one of them names makes no difference."""
    # cheap tests first: comparing whole models is slow
    if one.claim != other.claim or one.target != other.target:
        return False
    if isinstance(one, InspectionClaim | ProtectionClaim) and isinstance(other, InspectionClaim | ProtectionClaim):
        same_night = one.round is None or other.round is None or one.round == other.round
        return same_night and getattr(one, "role", None) == getattr(other, "role", None)
    return one == other
