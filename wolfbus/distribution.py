"""Exact sums, and quantiles of any number of values in bounded memory; both merge in any order to the same result."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any, Final

ACCURACY: Final = 0.01
"""Relative error of a quantile, at most."""
SMALLEST: Final = 1e-4
"""Values below count as 0 in quantiles; for seconds, a tenth of a millisecond."""

_GROWTH: Final = math.log((1 + ACCURACY) / (1 - ACCURACY))


class Mean:
    """A mean over rows, kept as an exact sum and a count.

    The sum is held as non-overlapping partial sums (Shewchuk's algorithm, the one behind
    `math.fsum`), a handful of floats however many terms there are, so merged means are equal to the
    last bit in whatever order they were merged.
    """

    __slots__ = ("_partials", "n")

    def __init__(self) -> None:
        self.n = 0
        self._partials: list[float] = []

    def add(self, value: float) -> None:
        """Add one finite value."""
        self.n += 1
        self._add(value)

    def _add(self, value: float) -> None:
        partials = self._partials
        kept = 0
        for other in partials:
            large, small = (value, other) if abs(value) >= abs(other) else (other, value)
            value = large + small
            lost = small - (value - large)
            if lost:
                partials[kept] = lost
                kept += 1
        partials[kept:] = [value]

    def merge(self, other: Mean) -> None:
        """Add all that `other` holds."""
        self.n += other.n
        for partial in list(other._partials):
            self._add(partial)

    def state(self) -> list[Any]:
        """Return all that it holds as plain values; see `restore`."""
        return [self.n, list(self._partials)]

    def restore(self, state: list[Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        self.n, self._partials = state

    def total(self) -> float:
        """Return the sum, correctly rounded."""
        return math.fsum(self._partials)

    def mean(self) -> float | None:
        """Return the mean, None over nothing."""
        return self.total() / self.n if self.n else None


class Distribution:
    """Values from 0 up, kept as counts in buckets whose bounds grow by a constant factor.

    The buckets are those of DDSketch (Masson, Rim and Lee 2019): they depend on the value alone, so
    distributions merge without loss and in any order, and a quantile is within `ACCURACY` of an
    exact one. Sum, mean, least and greatest value are exact. From a tenth of a millisecond to a
    year there are some 1,300 buckets.
    """

    __slots__ = ("_buckets", "_greatest", "_least", "_sum")

    def __init__(self) -> None:
        self._buckets: Counter[int | None] = Counter()
        self._sum = Mean()
        self._least = math.inf
        self._greatest = 0.0

    @property
    def n(self) -> int:
        """Number of values."""
        return self._sum.n

    def add(self, value: float) -> None:
        """Add one finite value, 0 or more."""
        self._buckets[None if value < SMALLEST else math.ceil(math.log(value) / _GROWTH)] += 1
        self._sum.add(value)
        self._least = min(self._least, value)
        self._greatest = max(self._greatest, value)

    def merge(self, other: Distribution) -> None:
        """Add all that `other` holds."""
        self._buckets.update(other._buckets)
        self._sum.merge(other._sum)
        self._least = min(self._least, other._least)
        self._greatest = max(self._greatest, other._greatest)

    def state(self) -> list[Any]:
        """Return all that it holds as plain values; see `restore`."""
        return [list(self._buckets.items()), self._sum.state(), self._least, self._greatest]

    def restore(self, state: list[Any]) -> None:
        """Hold what `state` returned, and nothing else."""
        buckets, total, self._least, self._greatest = state
        self._buckets = Counter(dict(buckets))
        self._sum.restore(total)

    def quantile(self, q: float) -> float | None:
        """Return the value below which a share `q`, in [0, 1], of the values lies; None without
        values.
        """
        if not self.n:
            return None
        rank, seen = q * (self.n - 1), 0
        for bucket in sorted(self._buckets, key=lambda bucket: -math.inf if bucket is None else bucket):
            seen += self._buckets[bucket]
            if seen > rank:
                break
        # the middle of a bucket, by ratio: off by the same factor at either end
        estimate = 0.0 if bucket is None else 2 * math.exp(bucket * _GROWTH) / (math.exp(_GROWTH) + 1)
        return min(max(estimate, self._least), self._greatest)

    def result(self) -> dict[str, Any]:
        """Return ``n``, ``total``, ``mean``, ``median``, ``p95`` and ``max``; all but the first two
        None without values.
        """
        return {
            "n": self.n,
            "total": self._sum.total(),
            "mean": self._sum.mean(),
            "median": self.quantile(0.5),
            "p95": self.quantile(0.95),
            "max": self._greatest if self.n else None,
        }
