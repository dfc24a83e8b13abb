"""Sums that do not depend on the order of their terms, so that games may be added in any order and any partition."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable


class Mean:
    """A mean over rows, kept as an exact sum and a count.

    The sum is held as non-overlapping partial sums (Shewchuk's algorithm, the one behind `math.fsum`), a
    handful of floats however many terms there are, so merged means are equal to the last bit in whatever
    order they were merged.
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

    def total(self) -> float:
        """Return the sum, correctly rounded."""
        return math.fsum(self._partials)

    def mean(self) -> float | None:
        """Return the mean, None over nothing."""
        return self.total() / self.n if self.n else None


class Sample:
    """Values of which there is one a game; eight bytes each, kept for spreads and resampling."""

    __slots__ = ("_values",)

    def __init__(self, values: Iterable[float] = ()) -> None:
        self._values = array("d", values)

    def __len__(self) -> int:
        return len(self._values)

    def add(self, value: float) -> None:
        """Add one game's finite value."""
        self._values.append(value)

    def merge(self, other: Sample) -> None:
        """Add all that `other` holds."""
        self._values.extend(array("d", other._values))

    def values(self) -> list[float]:
        """Return the values in ascending order, so that the order of the games leaves no trace."""
        return sorted(self._values)

    def mean(self) -> float | None:
        """Return the mean, None over nothing."""
        return math.fsum(self._values) / len(self._values) if self._values else None

    def sd(self) -> float | None:
        """Return the standard deviation with n - 1, None below two values."""
        n, mean = len(self._values), self.mean()
        if n < 2 or mean is None:
            return None
        return math.sqrt(math.fsum((value - mean) ** 2 for value in self._values) / (n - 1))

    def sem(self) -> float | None:
        """Return the standard error of the mean, None below two values."""
        sd = self.sd()
        return None if sd is None else sd / math.sqrt(len(self._values))


class Share:
    """A share of rows: how many of how many."""

    __slots__ = ("k", "n")

    def __init__(self, k: int = 0, n: int = 0) -> None:
        self.k = k
        self.n = n

    def add(self, hit: bool) -> None:
        """Count one row."""
        self.k += hit
        self.n += 1

    def merge(self, other: Share) -> None:
        """Add all that `other` holds."""
        self.k += other.k
        self.n += other.n

    def share(self) -> float | None:
        """Return k / n, None over nothing."""
        return ratio(self.k, self.n)


def ratio(numerator: float, denominator: float) -> float | None:
    """Return a quotient, None where the denominator is 0."""
    return numerator / denominator if denominator else None


def mean_of(values: Iterable[float]) -> float | None:
    """Return the mean of a few values in one go, None over nothing."""
    held = list(values)
    return math.fsum(held) / len(held) if held else None
