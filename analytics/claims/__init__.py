"""Claims heard in what is said: roles, inspections, protections and accusations in the words, scored like those that
speakers attach, which count only if the words bear them out (metrics: objective truth).

`claims_in` reads a text, `GameFacts` follows what is true of the game meanwhile; `wolfbus.truth` scores.
"""

from __future__ import annotations

from analytics.claims.extraction import Heard, claims_in, same_claim, says_it, scored
from analytics.claims.facts import GameFacts

__all__ = ["GameFacts", "Heard", "claims_in", "same_claim", "says_it", "scored"]
