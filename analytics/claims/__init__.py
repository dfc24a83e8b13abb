"""Claims found in what is said: role and inspection claims that a speaker makes in words, scored like those that it
attaches (metrics: objective truth).

`claims_in` reads a text, `GameFacts` follows what is true of the game meanwhile; `wolfbus.truth` scores.
"""

from __future__ import annotations

from analytics.claims.extraction import claims_in, found_claims, same_claim
from analytics.claims.facts import GameFacts

__all__ = ["GameFacts", "claims_in", "found_claims", "same_claim"]
