"""Thinning: a curve of millions of points as one of few that nobody can tell from it."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from analytics.columns import Array

POINTS: Final = 200
"""Points that are kept at most."""
TOLERANCE: Final = 0.002
"""How far the drawn line may be from a point that is left out, in the units of both axes: 1 is the whole axis."""

_COARSE: Final = 0.0005
"""Length of the steps that are left out before anything is compared, which bounds the work."""


def thinned(x: Array, y: Array) -> tuple[Array, float]:
    """Return which points of a line to keep, and how far the line through them is from the whole one.

    The ends stay; then the point farthest from the line joins it (as in Douglas and Peucker's algorithm), until none is
    farther than `TOLERANCE` or there are `POINTS`. So a line of a few hundred large steps, as a few hundred judgements
    with distinct scores give, may be off by more than the tolerance; the distance returned tells.

    Args:
        x: finite numbers.
        y: as many.
    """
    import numpy as np

    everything = np.arange(len(x))
    if len(x) <= POINTS:
        return everything, 0.0
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    step = np.floor(along / _COARSE)
    coarse = np.flatnonzero(np.concatenate([[True], step[1:] != step[:-1]]))
    if coarse[-1] != len(x) - 1:
        coarse = np.append(coarse, len(x) - 1)
    kept = coarse[_farthest_first(x[coarse], y[coarse])]
    piece = np.clip(np.searchsorted(kept, everything, side="right") - 1, 0, len(kept) - 2)
    ends = kept[piece], kept[piece + 1]
    return kept, float(_distance(x, y, (x[ends[0]], y[ends[0]]), (x[ends[1]], y[ends[1]])).max())


def _farthest_first(x: Array, y: Array) -> Array:
    import numpy as np

    last = len(x) - 1
    kept = {0, last}
    waiting: list[tuple[float, int, int, int]] = []

    def weigh(start: int, end: int) -> None:
        if end - start > 1:
            inner = slice(start + 1, end)
            far = _distance(x[inner], y[inner], (x[start], y[start]), (x[end], y[end]))
            at = int(far.argmax())
            heapq.heappush(waiting, (-float(far[at]), start + 1 + at, start, end))

    weigh(0, last)
    while waiting and len(kept) < POINTS and -waiting[0][0] > TOLERANCE - _COARSE:
        _, middle, start, end = heapq.heappop(waiting)
        kept.add(middle)
        weigh(start, middle)
        weigh(middle, end)
    return np.array(sorted(kept))


def _distance(x: Array, y: Array, start: tuple[Array, Array], end: tuple[Array, Array]) -> Array:
    """Return the distance of points from a stretch of line, its ends included."""
    import numpy as np

    across, up = end[0] - start[0], end[1] - start[1]
    length = across * across + up * up
    part = ((x - start[0]) * across + (y - start[1]) * up) / np.where(length > 0, length, 1.0)
    part = np.clip(part, 0.0, 1.0)
    far: Array = np.hypot(x - start[0] - part * across, y - start[1] - part * up)
    return far
