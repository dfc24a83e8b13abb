"""Bars: who wins, how much each role says and calls deceptive (paper 5.2, 5.3), and flags by role (5.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from analytics import Result
from analytics.figures.palette import HANDS
from analytics.figures.svg import SMALL, colour, draw, key_above, listed, percent
from wolfbus.vocabulary import ROLES, Role

if TYPE_CHECKING:
    from matplotlib.axes import Axes
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

    return draw("production", "Statements and deception by role", _production_described(findings), 2.7, paint)


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


def _production_described(findings: Result) -> str:
    rates, rows = findings["production"], findings["table1"]
    parts = []
    for role in ROLES:
        row = rates["by_role"][role]
        share = f"{row['deceptive']} of {row['n']} labelled ones deceptive ({percent(row['rate'])})"
        parts.append(f"{role}: {rows[role]['statements']} statements, {share}.")
    parts.append(f"Base rate over all: {percent(rates['overall']['rate'])}.")
    return " ".join(parts)


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

    return draw("confusion", "Flags by role of the observer", _flags_described(table), 4.9, paint)


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


def _flags_described(table: Result) -> str:
    parts = []
    for name in _ROWS:
        row = table[name]
        who = "All observers" if name == "overall" else f"{name} observers"
        deceptive, truthful = row["tp"] + row["fn"], row["fp"] + row["tn"]
        caught = f"{row['tp']} of {deceptive} deceptive"
        parts.append(f"{who} flag {caught} and {row['fp']} of {truthful} truthful statements.")
    return " ".join(parts)
