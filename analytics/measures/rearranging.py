"""Permutation tests: what the difference would be had the sides been dealt otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, product
from math import comb
from typing import TYPE_CHECKING, Final

from analytics.measures.bootstrap import SEED, UNDEFINED_SHARE

if TYPE_CHECKING:
    from analytics.columns import Array

PERMUTATIONS: Final = 10_000
"""Rearrangements drawn; where there are no more than that, each is taken once."""

_EQUAL: Final = 1e-9
_AT_ONCE: Final = 4_000_000
_PART: Final = 2_500


class Rearrangements:
    """Which units change sides in each rearrangement; the first row leaves all where they are.

    Each pair is swapped or not; units of one side alone are dealt anew, as many to each side as
    there were.

    Args:
        pairs: pairs.
        only_a: units of A alone.
        only_b: units of B alone.
        permutations: rearrangements to draw, unless there are no more than that.
        seed: seed of the draws.

    Attributes:
        exact: every rearrangement is there once.
        count: rearrangements, without the first row.
    """

    def __init__(
        self,
        pairs: int,
        only_a: int,
        only_b: int,
        permutations: int = PERMUTATIONS,
        seed: int = SEED,
    ) -> None:
        import numpy as np

        self.units = pairs + only_a + only_b
        dealings = comb(only_a + only_b, only_a)
        # the powers of a large number of pairs need not be computed to be seen as too many
        self.exact = pairs < 64 and 2**pairs * dealings <= permutations
        stay = np.zeros((1, self.units), np.uint8)
        if self.exact:
            every = list(_every(pairs, only_a, only_b))
            rows = np.array(every, np.uint8).reshape(len(every), self.units)
            parts = [np.packbits(np.concatenate([stay, rows]), axis=1)]
        else:
            parts = [np.packbits(stay, axis=1)]
            generator = np.random.default_rng(seed)
            step = max(1, _AT_ONCE // max(1, self.units))
            sides = np.repeat(np.array([0, 1], np.uint8), [only_a, only_b])
            for first in range(0, permutations, step):
                drawn = min(step, permutations - first)
                swapped = generator.integers(0, 2, size=(drawn, pairs), dtype=np.uint8)
                dealt = generator.permuted(np.tile(sides, (drawn, 1)), axis=1) ^ sides
                parts.append(np.packbits(np.concatenate([swapped, dealt], axis=1), axis=1))
        self._bits = np.concatenate(parts)
        self.count = len(self._bits) - 1

    def parts(self) -> Iterator[slice]:
        """Yield the rows of rearrangements, some thousand at a time."""
        for first in range(0, len(self._bits), _PART):
            yield slice(first, first + _PART)

    def moved(self, matrix: Array, part: slice = slice(None)) -> Array:
        """Return for rows of rearrangements the sum of the matrix's rows over the units that change
        sides.

        Args:
            matrix: units by columns.
            part: which rows; all unless given.
        """
        import numpy as np

        chosen = self._bits[part]
        found = np.empty((len(chosen), matrix.shape[1]), np.float64)
        step = max(1, _AT_ONCE // max(1, self.units))
        for first in range(0, len(chosen), step):
            bits = np.unpackbits(chosen[first : first + step], axis=1, count=self.units)
            found[first : first + step] = bits.astype(matrix.dtype) @ matrix
        return found

    def p_value(self, differences: Array) -> tuple[float | None, str | None]:
        """Return the two-sided p-value of the first difference among all, and why there is none.

        It is the share of rearrangements whose difference is at least as large, of all of them; of
        drawn ones, with the given arrangement counted among them. An undefined difference counts as
        large.

        Args:
            differences: for each row of rearrangements, NaN where undefined.
        """
        import numpy as np

        given, others = differences[0], differences[1:]
        if np.isnan(given):
            return None, "the difference is undefined"
        if self.units == 0 or (self.exact and self.count < 2):
            return None, "there is nothing to rearrange"
        undefined = np.isnan(others)
        if undefined.sum() > UNDEFINED_SHARE * len(others):
            return None, f"undefined in {int(undefined.sum())} of {len(others)} rearrangements"
        large = int((undefined | (np.abs(np.where(undefined, 0, others)) >= abs(given) - _EQUAL)).sum())
        return (large / self.count if self.exact else (large + 1) / (self.count + 1)), None


def _every(pairs: int, only_a: int, only_b: int) -> Iterator[tuple[int, ...]]:
    for swapped in product((0, 1), repeat=pairs):
        for of_b in combinations(range(only_a + only_b), only_b):
            chosen = set(of_b)
            yield (
                *swapped,
                *(int((at in chosen) != (at >= only_a)) for at in range(only_a + only_b)),
            )


def max_t(observed: Mapping[str, float], rearranged: Mapping[str, Array]) -> dict[str, float]:
    """Return p-values of several two-sided tests adjusted together: the step-down procedure of
    Westfall and Young (1993) on the greatest statistic.

    Under the hypothesis that nothing differs, at most a share alpha of such families of tests has
    any adjusted value below alpha, however the statistics depend on each other.

    Args:
        observed: statistics by name, the larger the more they tell; all on one scale.
        rearranged: the same in every rearrangement, in the same order of rearrangements.
    """
    import numpy as np

    found: dict[str, float] = {}
    order = sorted(observed, key=lambda name: observed[name])
    greatest: Array = np.zeros(0)
    for name in order:
        own = np.nan_to_num(rearranged[name], nan=np.inf)
        greatest = np.maximum(greatest, own) if len(greatest) else own
        found[name] = float((greatest >= observed[name] - _EQUAL).mean())
    highest = 0.0
    for name in reversed(order):
        highest = found[name] = max(highest, found[name])
    return {name: found[name] for name in observed}
