"""How much each role says, and how much of it the speakers call deceptive (paper 5.2 and 5.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics import Result
from analytics.figures.drawing import SMALL, colour, draw, key_above
from analytics.figures.palette import HANDS
from analytics.figures.words import percent
from wolfbus.vocabulary import ROLES, Role

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def production_by_role(findings: Result) -> str | None:
    """Return statements and self-labelled deception by role of the speaker (paper 5.2, 5.3; metrics: production,
    Table 1), None without a statement.

    Left, the share of labelled statements that their speakers call deceptive, with the bootstrap interval where the
    ``variability`` section has one; the dotted line is the base rate over all. Right, the number of statements.

    Args:
        findings: ``production`` and ``table1`` are drawn, with ``variability``'s intervals if it is there.
    """
    rates, rows = findings["production"], findings["table1"]
    if not rows["overall"]["statements"]:
        return None
    known = findings.get("variability") or {}
    intervals = known.get("metrics", {})

    def paint(figure: Figure) -> None:
        left, right = figure.subplots(1, 2, width_ratios=(1.7, 1.0), gridspec_kw={"wspace": 0.5})
        figure.subplots_adjust(left=0.115, right=0.985, top=0.88, bottom=0.19)
        base = rates["overall"]["rate"]
        if base is not None:
            label = f"base rate {percent(base)}"
            left.axvline(base, color=colour("accent"), linewidth=1.4, dashes=(1.5, 2), label=label, zorder=3)
            key_above(left, 1)
        for place, role in enumerate(ROLES):
            _rate(left, place, role, rates["by_role"][role], intervals.get(f"deception_rate/{role}"))
            _count(right, place, role, rows[role]["statements"])
        left.set_xlim(0, 1)
        left.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        left.set_xlabel("called deceptive by the speaker")
        left.set_yticks(range(len(ROLES)), ROLES)
        left.tick_params(axis="y", labelcolor=colour("ink"))
        right.set_xlim(0, max(rows[role]["statements"] for role in ROLES) * 1.25)
        right.set_xticks([])
        right.spines["bottom"].set_visible(False)
        right.set_yticks([])
        right.set_xlabel("statements")
        for axes in (left, right):
            axes.set_ylim(len(ROLES) - 0.4, -0.6)
            axes.tick_params(axis="y", length=0)
        left.grid(axis="x")

    return draw("production", "Statements and deception by role", _described(findings), 2.7, paint)


def _rate(axes: Axes, place: int, role: Role, row: Result, interval: Result | None) -> None:
    if row["rate"] is None:
        axes.text(0.01, place, "no label that counts", va="center", fontsize=SMALL, color=colour("muted"))
        return
    axes.barh(place, row["rate"], 0.62, color=colour(HANDS[role].colour))
    if interval is not None and interval["low"] is not None:
        low, high = interval["low"], interval["high"]
        axes.plot([low, high], [place, place], color=colour("ink"), linewidth=1.3, marker="|", markersize=8)
    axes.annotate(
        f"{row['deceptive']} of {row['n']}",
        (1.0, place),
        xytext=(6, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        annotation_clip=False,
    )


def _count(axes: Axes, place: int, role: Role, statements: int) -> None:
    axes.barh(place, statements, 0.62, color=colour(HANDS[role].colour))
    axes.annotate(
        f"{statements}", (statements, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=SMALL
    )


def _described(findings: Result) -> str:
    rates, rows = findings["production"], findings["table1"]
    parts = []
    for role in ROLES:
        row = rates["by_role"][role]
        share = f"{row['deceptive']} of {row['n']} labelled ones deceptive ({percent(row['rate'])})"
        parts.append(f"{role}: {rows[role]['statements']} statements, {share}.")
    parts.append(f"Base rate over all: {percent(rates['overall']['rate'])}.")
    return " ".join(parts)
