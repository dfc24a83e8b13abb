"""The leaderboard: how well agents tell deception apart and conceal it (metrics: deceivers and detectors)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from analytics import Result
from analytics.figures.drawing import SMALL, colour, draw
from analytics.figures.words import decimal, labels_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Point: TypeAlias = tuple[float, float]
"""Place on paper, in points of 1/72 inch."""

_GROUPS: Final = (("villager", "o"), ("werewolf", "s"), ("doctor", "D"), ("seer", "^"), ("accent", "v"))
"""Colour and marker of the groups of agents that met each other; further groups begin anew."""
_GROUNDS: Final = {"role": "by role", "truth": "by the truth of claims", "label": "by self-labels"}
_ROW: Final = 13.5
"""Points between two lines of the key."""
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


def leaderboard(findings: Result, by: Literal["role", "truth", "label"] = "role") -> str | None:
    """Return agents by sensitivity (to the right: flags tell deceptive from honest statements) and by concealment
    (upwards: its own are told apart less), in d′ with 95 % intervals as crosses.

    None if no agent has both numbers. Agents are numbered group by group, in it by the sum of both, best first. The key
    has their names, marks groups that never met and so cannot be compared, and lists those that have no place.

    Args:
        findings: its ``abilities`` section is drawn.
        by: what counts as deception: what a Werewolf says, what is a lie by its claims, what its speaker calls so.
    """
    agents: dict[str, Result] = findings["abilities"][by]["agents"]
    placed = sorted(
        (name for name in agents if None not in _place(agents[name])),
        key=lambda name: (agents[name]["component"], -_sum(agents[name]), name),
    )
    if not placed:
        return None
    names = labels_of(sorted(agents))
    groups = sorted({agents[name]["component"] for name in placed})
    others = [name for name in sorted(agents) if name not in set(placed)]
    rows = _key(placed, others, agents, names, groups)
    height = max(4.4, 0.9 + len(rows) * _ROW / 72)

    def paint(figure: Figure) -> None:
        high = 3.75 / height
        axes = figure.add_axes((0.1, 1 - high - 0.12 / height, 0.53, high))
        _crosses(axes, [agents[name] for name in placed], groups)
        side = figure.add_axes((0.655, 0.0, 0.345, 1.0))
        side.set_axis_off()
        for at, (marker, ink, text, bold) in enumerate(rows):
            y = -(0.22 * 72 + at * _ROW)
            if marker:
                side.plot([0.03], [1 + y / (height * 72)], marker=marker, color=colour(ink), markersize=5)
            side.annotate(
                text,
                (0.07 if marker else 0.0, 1 + y / (height * 72)),
                va="center",
                fontsize=SMALL + 0.5,
                fontweight="bold" if bold else "normal",
                color=colour("ink" if marker or bold else "muted"),
                annotation_clip=False,
            )
        side.set_xlim(0, 1)
        side.set_ylim(0, 1)

    title = f"Agents: who detects, who conceals ({_GROUNDS[by]})"
    return draw(f"leaderboard-{by}", title, _described(placed, others, agents, names, groups), height, paint)


_Row: TypeAlias = tuple[str, str, str, bool]
"""Marker, its colour's name, words, and whether they are a heading."""


def _key(
    placed: list[str], others: list[str], agents: dict[str, Result], names: dict[str, str], groups: list[int]
) -> list[_Row]:
    rows: list[_Row] = []
    for group in groups:
        if len(groups) > 1:
            rows.append(("", "ink", f"Group {groups.index(group) + 1}", True))
        ink, marker = _GROUPS[groups.index(group) % len(_GROUPS)]
        rows += [
            (marker, ink, f"{number}  {names[name]}", False)
            for number, name in enumerate(placed, start=1)
            if agents[name]["component"] == group
        ]
    if len(groups) > 1:
        rows.append(("", "muted", "Groups never met: compare only", False))
        rows.append(("", "muted", "agents of the same group.", False))
    if others:
        rows.append(("", "ink", "No place", True))
        rows += [("", "muted", names[name], False) for name in others]
    return rows


def _crosses(axes: Axes, rows: list[Result], groups: list[int]) -> None:
    limits = {name: _limits(rows, name) for name in ("sensitivity", "concealment")}
    axes.set_xlim(*limits["sensitivity"])
    axes.set_ylim(*limits["concealment"])
    axes.axhline(0, color=colour("muted"), linewidth=0.9, dashes=(2, 3))
    axes.axvline(0, color=colour("muted"), linewidth=0.9, dashes=(2, 3))
    axes.grid()
    axes.set_xlabel("sensitivity (d′; 0 tells nothing apart)")
    axes.set_ylabel("concealment (d′; 0 is the average)")
    # a pixel is a point: figures are drawn at 72 to the inch
    pixels = axes.transData.transform([_place(row) for row in rows])
    offsets = places_of_labels([(x, y) for x, y in pixels], 14.0, 10.0)
    for number, (row, offset) in enumerate(zip(rows, offsets, strict=True), start=1):
        ink, marker = _GROUPS[groups.index(row["component"]) % len(_GROUPS)]
        x, y = _place(row)
        for name, other in (("sensitivity", y), ("concealment", x)):
            low, high = row[name]["low"], row[name]["high"]
            if low is not None:
                line = ([low, high], [other, other]) if name == "sensitivity" else ([other, other], [low, high])
                axes.plot(*line, color=colour(ink), linewidth=1.0, alpha=0.55, solid_capstyle="butt")
        axes.plot([x], [y], color=colour(ink), marker=marker, markersize=6, zorder=4)
        axes.annotate(
            f"{number}",
            (x, y),
            xytext=offset,
            textcoords="offset points",
            ha="center",
            va="center",
            fontweight="bold",
            bbox={"boxstyle": "round,pad=0.1", "facecolor": colour("paper"), "edgecolor": "none", "alpha": 0.8},
            zorder=5,
        )


def _limits(rows: list[Result], name: str) -> tuple[float, float]:
    values = [row[name][end] for row in rows for end in ("value", "low", "high") if row[name][end] is not None]
    low, high = min(*values, 0.0), max(*values, 0.0)
    spare = max(0.08 * (high - low), 0.25)
    return low - spare, high + spare


def _place(row: Result) -> tuple[float, float]:
    return row["sensitivity"]["value"], row["concealment"]["value"]


def _sum(row: Result) -> float:
    detects, conceals = _place(row)
    return detects + conceals


def _described(
    placed: list[str], others: list[str], agents: dict[str, Result], names: dict[str, str], groups: list[int]
) -> str:
    parts = []
    for number, name in enumerate(placed, start=1):
        row = agents[name]
        group = f" (group {groups.index(row['component']) + 1})" if len(groups) > 1 else ""
        parts.append(
            f"{number}: {names[name]}{group} detects {_said(row['sensitivity'])}, conceals {_said(row['concealment'])}."
        )
    if others:
        parts.append(f"Without a place: {', '.join(names[name] for name in others)}.")
    return f"In d′, higher is better; who detects 0 tells nothing apart. {' '.join(parts)}"


def _said(estimate: Result) -> str:
    if estimate["low"] is None:
        return decimal(estimate["value"])
    return f"{decimal(estimate['value'])} ({decimal(estimate['low'])} to {decimal(estimate['high'])})"


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
