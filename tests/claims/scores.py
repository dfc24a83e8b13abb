"""How well claims are found in the sentences of `styles/`: `python -m tests.claims.scores` prints it.

Whoever wrote the patterns has seen all of them, so this tells what is lost by a change, and not how well claims are
found in sentences that are new; `benchmarks/claims.py` measures that.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.claims.corpus import SENTENCES, SPLITS, LabelledSentence, Split, implied
from wolfbus.claims.hearing import claims_in
from wolfbus.game.vocabulary import Role
from wolfbus.messages.content import Claim


@dataclass(frozen=True)
class Scores:
    """Counts over sentences: claims found that are there, found that are not, missed; and of those found that name
    a night or should, how many name the right one.
    """

    right: int
    wrong: int
    missed: int
    nights: int
    right_nights: int

    @property
    def precision(self) -> float:
        """Share of what is found that is there."""
        return self.right / (self.right + self.wrong)

    @property
    def recall(self) -> float:
        """Share of what is there that is found."""
        return self.right / (self.right + self.missed)


def score(split: Split, style: str | None = None) -> Scores:
    """Return how well claims are found in one half of the corpus, or of one style of it."""
    right = wrong = missed = nights = right_nights = 0
    for sentence in SENTENCES:
        if sentence.split == split and style in {None, sentence.style}:
            labelled = {asserted(claim): claim for claim in sentence.claims}
            found_by_assertion = {asserted(claim): claim for claim in found_in(sentence)}
            neither = set(map(asserted, implied(sentence.claims, sentence.by)))
            right += len(found_by_assertion.keys() & labelled.keys())
            wrong += len(found_by_assertion.keys() - labelled.keys() - neither)
            missed += len(labelled.keys() - found_by_assertion.keys())
            pairs = [
                (night(found_by_assertion[assertion]), night(labelled[assertion]))
                for assertion in found_by_assertion.keys() & labelled.keys()
            ]
            nights += sum(pair != (None, None) for pair in pairs)
            right_nights += sum(one == other is not None for one, other in pairs)
    return Scores(right, wrong, missed, nights, right_nights)


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


def night(claim: Claim) -> int | None:
    """Return the night that a claim names."""
    return getattr(claim, "round", None)


def main() -> None:
    """Print the scores of both halves, and by style."""
    for split in SPLITS:
        for style in (*sorted({sentence.style for sentence in SENTENCES}), None):
            scores = score(split, style)
            print(
                f"{split:<9} {style or 'all':<11} precision {scores.precision:.3f}  recall {scores.recall:.3f}  "
                f"right {scores.right:>3}  wrong {scores.wrong:>2}  missed {scores.missed:>2}  "
                f"nights {scores.right_nights}/{scores.nights}"
            )


if __name__ == "__main__":
    main()
