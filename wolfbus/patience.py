"""How long something that fails is tried again, and how long to wait in between: one way for all that may fail."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Backoff:
    """Pauses between tries: each is drawn between half of a bound and the bound, which grows from try to try.

    Those that failed together so do not come back together.

    Attributes:
        first: seconds, the bound before the second try.
        factor: growth of the bound from one try to the next.
        longest: seconds, the bound's own bound.
    """

    first: float = 0.5
    factor: float = 2.0
    longest: float = 20.0

    def shortest(self) -> float:
        """Return the least number of seconds that any pause takes."""
        return min(self.first, self.longest) / 2

    def delay(self, failures: int) -> float:
        """Return the seconds to wait after so many failures (at least 1), drawn anew each time."""
        bound = min(self.longest, self.first * self.factor ** min(failures - 1, 64))
        return random.uniform(bound / 2, bound)


class Patience:
    """How long something that fails is tried again: so many seconds from its first failure.

    Args:
        seconds: how long.
        backoff: the pauses between tries.
        begun: count from now, and not from the first failure.

    Attributes:
        failures: how often it failed.
    """

    def __init__(self, seconds: float, backoff: Backoff, *, begun: bool = False) -> None:
        self._seconds = seconds
        self._backoff = backoff
        self._since = time.monotonic() if begun else None
        self.failures = 0

    def left_s(self) -> float:
        """Return how many seconds are left; all of them before the first failure."""
        return self._seconds if self._since is None else self._since + self._seconds - time.monotonic()

    def pause_s(self) -> float | None:
        """Note a failure; returns the seconds to wait before the next try, None when it is time to give up."""
        if self._since is None:
            self._since = time.monotonic()
        self.failures += 1
        left = self.left_s()
        return min(self._backoff.delay(self.failures), left) if left > 0 else None
