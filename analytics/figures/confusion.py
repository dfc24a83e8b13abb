"""Flags against self-labels by role of the observer: the counts of Table 3 (paper 5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analytics import Result
from analytics.figures.drawing import SMALL, colour, draw
from analytics.figures.words import percent
from wolfbus.vocabulary import ROLES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDE = 0.0135
"""Share of a bar that a character needs."""
_ROWS = (*ROLES, "overall")


def confusion(findings: Result) -> str | None:
    """Return how each role's judgements of deceptive and of truthful statements divide (paper 5.5; metrics: Table 3),
    None if no judgement can be held against a self-label.

    Two bars a role. An observer who tells lies from truth flags far more of the upper bar than of the lower; equal
    bars are blindness, whatever the accuracy.

    Args:
        findings: its ``table3`` section is drawn.
    """
    table = findings["table3"]
    if not table["overall"]["n"]:
        return None

    def paint(figure: Figure) -> None:
        axes = figure.add_axes((0.27, 0.1, 0.7, 0.82))
        for place, name in enumerate(_ROWS):
            row = table[name]
            _bar(axes, place * 2.6, "deceptive", row["tp"], row["fn"])
            _bar(axes, place * 2.6 + 1, "truthful", row["fp"], row["tn"])
            axes.annotate(
                "All" if name == "overall" else name,
                (0.0, place * 2.6 + 0.5),
                xytext=(-128, 0),
                textcoords="offset points",
                ha="left",
                va="center",
                fontweight="bold",
            )
        axes.set_ylim(len(_ROWS) * 2.6 - 0.9, -0.7)
        axes.set_xlim(0, 1)
        axes.set_yticks([])
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "25 %", "50 %", "75 %", "100 %"])
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("share of judgements")
        _legend(axes)

    return draw("confusion", "Flags by role of the observer", _described(table), 4.9, paint)


def _bar(axes: Axes, at: float, kind: str, flagged: int, passed: int) -> None:
    n = flagged + passed
    axes.annotate(
        f"{kind}, n {n}",
        (0.0, at),
        xytext=(-6, 0),
        textcoords="offset points",
        ha="right",
        va="center",
        fontsize=SMALL,
        color=colour("muted"),
    )
    if not n:
        axes.text(0.01, at, "none judged", va="center", fontsize=SMALL, color=colour("muted"))
        return
    left = 0.0
    for count, ground, ink in ((flagged, "flag", "on-flag"), (passed, "pass", "on-pass")):
        share = count / n
        if count:
            axes.barh(at, share, 0.86, left, color=colour(ground), edgecolor=colour("paper"))
        said = f"{count} · {percent(share)}"
        if share >= (len(said) + 1) * _WIDE:
            axes.text(left + share / 2, at, said, ha="center", va="center", fontsize=SMALL, color=colour(ink))
        left += share


def _legend(axes: Axes) -> None:
    from matplotlib.patches import Patch

    axes.legend(
        handles=[Patch(color=colour("flag"), label="flagged"), Patch(color=colour("pass"), label="not flagged")],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=2,
        frameon=False,
        borderaxespad=0.2,
    )


def _described(table: Result) -> str:
    parts = []
    for name in _ROWS:
        row = table[name]
        who = "All observers" if name == "overall" else f"{name} observers"
        deceptive, truthful = row["tp"] + row["fn"], row["fp"] + row["tn"]
        caught = f"{row['tp']} of {deceptive} deceptive"
        parts.append(f"{who} flag {caught} and {row['fp']} of {truthful} truthful statements.")
    return " ".join(parts)
