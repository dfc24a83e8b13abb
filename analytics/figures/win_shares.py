"""Who wins (paper 5.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.figures.drawing import colour, draw
from analytics.figures.words import listed, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIDES: Final = {
    "werewolves": ("Werewolves", "werewolf"),
    "villagers": ("Villagers", "villager"),
    "nobody": ("nobody", "nobody"),
}


def win_shares(findings: Result) -> str | None:
    """Return the shares of finished games that each side won, with Wilson's 95 % intervals (paper 5.2; metrics:
    outcomes), None if no game is finished.

    Args:
        findings: its ``outcomes`` section is drawn.
    """
    winners = findings["outcomes"]["winners"]
    if not findings["outcomes"]["finished"]:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.14, 0.24, 0.62, 0.72))
        for place, (side, (name, ink)) in enumerate(_SIDES.items()):
            row = winners[side]
            axes.barh(place, row["share"], 0.62, color=colour(ink))
            axes.errorbar(
                [row["share"]],
                [place],
                xerr=[[row["share"] - row["low"]], [row["high"] - row["share"]]],
                color=colour("ink"),
                elinewidth=1.3,
                capsize=4,
                fmt="none",
            )
            axes.annotate(
                f"{row['k']} of {row['n']}: {percent(row['share'])}",
                (1.0, place),
                xytext=(10, 0),
                textcoords="offset points",
                va="center",
                annotation_clip=False,
            )
            axes.annotate(name, (0.0, place), xytext=(-7, 0), textcoords="offset points", ha="right", va="center")
        axes.set_ylim(2.6, -0.6)
        axes.set_xlim(0, 1)
        axes.set_yticks([])
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.set_xlabel("share of finished games, 95 % interval")
        axes.grid(axis="x")

    said = listed(
        f"{name} {row['k']} of {row['n']} ({percent(row['share'])}, 95 % interval {percent(row['low'])} to "
        f"{percent(row['high'])})"
        for side, (name, _) in _SIDES.items()
        for row in (winners[side],)
    )
    return draw("wins", "Who wins", f"Games won: {said}.", 2.1, paint)
