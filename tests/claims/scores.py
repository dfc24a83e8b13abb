"""What of the claims that are found in the sentences of `styles/` is there.

Whoever wrote the patterns has seen all of them, so this tells what is lost by a change, and not how well claims are
found in sentences that are new; `benchmarks/claims.py` measures that.
"""

from tests.claims.corpus import SENTENCES, LabelledSentence, implied
from wolfbus.claims.hearing import claims_in
from wolfbus.game.vocabulary import Role
from wolfbus.messages.content import Claim


def right_and_wrong() -> tuple[int, int]:
    """Return how many claims are found that are there, and how many that are not."""
    right = wrong = 0
    for sentence in SENTENCES:
        labelled, found = {*map(asserted, sentence.claims)}, {*map(asserted, found_in(sentence))}
        neither = set(map(asserted, implied(sentence.claims, sentence.by)))
        right += len(found & labelled)
        wrong += len(found - labelled - neither)
    return right, wrong


def found_in(sentence: LabelledSentence) -> tuple[Claim, ...]:
    """Return the claims that are found in a sentence, of those that its labels tell: no denials, nothing hedged, no
    stances.
    """
    found = claims_in(sentence.text, sentence.by, sentence.names)
    return tuple(
        claim
        for claim in found
        if claim.claim != "stance"
        and not getattr(claim, "denied", False)
        and getattr(claim, "strength", "plain") == "plain"
    )


def asserted(claim: Claim) -> tuple[str, str, Role | None]:
    """Return what a claim asserts, whichever night it names."""
    return claim.claim, claim.target, getattr(claim, "role", None)
