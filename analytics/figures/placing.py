"""Where small labels go beside points so that they hide neither each other nor other points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

Point: TypeAlias = tuple[float, float]
"""Place on paper, in points of 1/72 inch."""

_TRIED: Final = tuple(
    (far * x, far * y)
    for far in (1.0, 1.5, 2.0)
    for x, y in (
        (11.0, 9.5),
        (-11.0, 9.5),
        (11.0, -9.5),
        (-11.0, -9.5),
        (13.0, 0.0),
        (-13.0, 0.0),
        (0.0, 12.0),
        (0.0, -12.0),
    )
)
"""Offsets in order of liking: near before far, and not upon the arms of the point's own cross."""


def places_of_labels(points: Sequence[Point], wide: float, high: float) -> list[Point]:
    """Return an offset for each point's label, whose centre it is to be put at.

    Points choose in their order; each takes the first place that touches nothing, or else the emptiest.

    Args:
        points: what is labelled.
        wide: width of a label.
        high: height of a label.
    """
    chosen: list[Point] = []
    taken: list[Point] = []
    for point in points:
        best = min(_TRIED, key=lambda offset: _crowding(_moved(point, offset), points, taken, wide, high))
        chosen.append(best)
        taken.append(_moved(point, best))
    return chosen


def _moved(point: Point, offset: Point) -> Point:
    return point[0] + offset[0], point[1] + offset[1]


def _crowding(at: Point, points: Sequence[Point], taken: Sequence[Point], wide: float, high: float) -> float:
    return sum(_overlap(at, each, wide, high) for each in taken) + sum(
        _overlap(at, each, wide / 2 + 4, high / 2 + 4) for each in points
    )


def _overlap(one: Point, other: Point, wide: float, high: float) -> float:
    return max(0.0, wide - abs(one[0] - other[0])) * max(0.0, high - abs(one[1] - other[1]))
