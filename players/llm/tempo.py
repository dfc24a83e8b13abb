"""`Tempo`: how fast calls go wrong, and right again: when an endpoint is down, and when a call is tried once more."""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential back-off with full jitter: a uniform draw between nothing and a bound that grows.

    Attributes:
        first: seconds, the bound before the second attempt.
        factor: growth of the bound from one attempt to the next.
        longest: seconds, the bound's own bound.
    """

    first: float = 0.5
    factor: float = 2.0
    longest: float = 20.0

    def bound(self, failures: int) -> float:
        """Return the most seconds to wait after so many failures (at least 1)."""
        return min(self.longest, self.first * self.factor ** min(failures - 1, 64))

    def delay(self, failures: int) -> float:
        """Return the seconds to wait after so many failures, drawn anew each time."""
        return random.uniform(0, self.bound(failures))


@dataclass(frozen=True, slots=True)
class Tempo:
    """How fast things go wrong, and right again; tests make it fast.

    Attributes:
        failures: so many in a row open an endpoint's circuit (of one request in five failing by chance, eight are in a
            row once in 400,000),
        lasting: if it is so many seconds since the first of them.
        first_trial: seconds from there to its first trial.
        longest_trial: seconds between trials at most.
        backoff: time between the attempts of one call.
    """

    failures: int = 8
    lasting: float = 1.0
    first_trial: float = 0.5
    longest_trial: float = 30.0
    backoff: Backoff = Backoff()
