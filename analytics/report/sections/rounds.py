"""Suspicion over the rounds (Figure 1, paper 5.6), around events (5.3), and whether it decides votes (4.5)."""

from __future__ import annotations

from functools import partial
from typing import Final

from analytics import Result
from analytics.figures.curves import figure1
from analytics.measures.bootstrap import around_mean
from analytics.report.context import Context, Selection, counted, drawing, ends, estimate, look, value
from wolfbus.document.blocks import Block, Cell, Row, Section, TableBlock, TableColumn, columns
from wolfbus.document.formats import UNDEFINED, count, number, of, percent
from wolfbus.vocabulary import ROLES


def section(findings: Result, context: Context) -> Section:
    """Return Figure 1, its numbers, and the trend."""
    caption = (
        "Figure 1. Smoothed suspicion towards each role among the living, by round (mean over games with its "
        "95 % interval), and the share of judgements that flag; by observers who do not know "
        "whether the target is a Werewolf."
    )
    blocks: list[Block] = [
        drawing(
            "figure1-figure",
            partial(figure1, findings),
            caption,
            findings.get("figure1"),
            "No round has a judgement yet.",
            "figure1-points",
        ),
        _points(findings.get("figure1") or {}, "figure1-points", "Figure 1's numbers"),
        _moved(findings),
        _points(
            look(findings, "figure1", "all_observers") or {},
            "figure1-all",
            "Figure 1's numbers over all observers, as in the paper",
        ),
        _text(context),
        _slopes(findings, context),
        _separable(findings, context),
    ]
    return Section("figure1", "Figure 1: suspicion over the rounds", tuple(blocks))


def _points(data: Result, name: str, caption: str) -> TableBlock:
    lines = {role: {point["round"]: point for point in look(data, "suspicion", role) or ()} for role in ROLES}
    raw = {role: {point["round"]: point for point in look(data, "raw", role) or ()} for role in ROLES}
    flags = {row["round"]: row for row in data.get("flagged") or ()}
    rounds = sorted({round_ for line in lines.values() for round_ in line} | set(flags))
    rows = []
    for round_ in rounds:
        cells = [_point(lines[role].get(round_), role, round_) for role in ROLES]
        flag = flags.get(round_) or {}
        link = Selection(round=round_, judged="flagged")
        cells.append(value(flag.get("share"), n=flag.get("n"), link=link, reason="no judgement counts in this round"))
        rows.append(Row(Cell(f"Round {round_}"), tuple(cells)))
        given = [_point(raw[role].get(round_), role, round_) for role in ROLES]
        rows.append(Row(Cell("… as it was given, not smoothed"), (*given, Cell("–"))))
    notes = ("n is games for suspicion (mean over them, with the 95 % interval by Student's t), judgements for flags.",)
    return TableBlock(
        name,
        caption,
        columns("", *ROLES, "Flagged"),
        tuple(rows),
        notes,
        empty="No round has a judgement yet.",
    )


def _moved(findings: Result) -> TableBlock:
    """Return how suspicion changed from round to round, apart from who is left."""
    rows = [
        Row(
            Cell(f"{role}, round {step['round']}"),
            (
                _change(step["within"], step["within_sem"]),
                _change(step["makeup"], step["makeup_sem"]),
                Cell(f"{step['n']:,}"),
            ),
        )
        for role, steps in (look(findings, "figure1", "moved") or {}).items()
        for step in steps
    ]
    notes = (
        (
            "A line of Figure 1 also moves because some players are gone. The first column is the change of smoothed "
            "suspicion within pairs that were there in the round before, the second what is left of the change."
        ),
    )
    heads = columns("Target", "Within the same pairs", "By who is left", "Games")
    return TableBlock(
        "figure1-moved",
        "Change from the round before, percentage points ± 1 standard error over games",
        heads,
        tuple(rows),
        notes,
        empty="No game has a pair with suspicion in two rounds.",
    )


def _change(mean: float, sem: float | None) -> Cell:
    return Cell(f"{100 * mean:+.1f}".replace("-", "−"), "" if sem is None else f"± {100 * sem:.1f}")


def _point(point: Result | None, role: str, round_: int) -> Cell:
    if point is None or point["mean"] is None:
        return Cell(UNDEFINED, reason="no game has a living pair with a judgement in this round")
    within = around_mean(point["mean"], point["sem"], point["n"])
    return value(point["mean"], n=point["n"], within=within, link=Selection(role=role, round=round_, judged="judged"))


def _slopes(findings: Result, context: Context) -> TableBlock:
    rows = []
    for role, row in (look(findings, "trends", "slopes") or {}).items():
        paper = look(findings, "trends", "all_observers", "slopes", role) or row
        cells = (
            value(
                *(row["median"], "points"), n=row["n"], within=ends(row),
                reason="no game has suspicion of this role in two rounds",
            ),
            value(
                *(paper["paper_reading"], "points"), paper=context.paper("trends", role, "slope"),
                reason="fewer than two rounds have suspicion of this role",
            ),
            Cell(f"{paper['paper_reading_rounds']:,}"),
        )  # fmt: skip
        rows.append(Row(Cell(role), cells))
    heads = columns("Target", "Median slope within a game", "The paper's reading", "Rounds it is over")
    notes = (
        "n is games of at least two rounds; the interval resamples single games, whatever the design.",
        (
            "The paper's reading is the slope of the per-round means over games, in which late rounds that "
            "few games reach weigh as much as the first, over all observers."
        ),
    )
    return TableBlock(
        "slopes",
        "Trend: Theil–Sen slope of suspicion, percentage points per round",
        heads,
        tuple(rows),
        notes,
    )


def _separable(findings: Result, context: Context) -> TableBlock:
    found = look(findings, "trends", "separable") or {}
    rows = tuple(
        Row(
            Cell(f"Round {row['round']}"),
            (
                value(row["difference"], "points", n=row["n"], within=ends(row), reason="no game has both"),
                Cell("yes" if row["low"] is not None and row["low"] > 0 else "no"),
            ),
        )
        for row in found.get("rounds") or ()
    )
    first = found.get("round")
    told = (
        f"Werewolves stand out from round {number(first, 0)} on."
        if first is not None
        else f"There is no such round: {found.get('reason') or 'nothing was judged'}."
    )
    everybody = look(findings, "trends", "all_observers", "separable", "round")
    told += " Over all observers, as in the paper: " + ("none." if everybody is None else f"round {everybody}.")
    caption = "Suspicion of Werewolves minus suspicion of Villagers within a game, paired; n games"
    return TableBlock(
        "separable", caption, columns("", "Difference", "Interval above 0"), rows, (told, *_paper_round(context))
    )


def _paper_round(context: Context) -> tuple[str, ...]:
    first = context.paper("trends", "separable", "round")
    return () if first is None else (f"The paper has round {first:.0f}, by intervals that do not overlap.",)


def _text(context: Context) -> TableBlock:
    """Return what the paper's text says of its figure, which has no table."""
    rows = []
    for role in ROLES:
        told = context.published.get("figure1", {}).get("suspicion", {}).get(role) or {}
        final = context.published.get("figure1", {}).get("final_round", {}).get(role) or {}
        if not told and not final:
            continue
        if "first" in told:
            words = f"rises from {percent(told['first'])} to {percent(told['last'])}"
        else:
            words = f"stays at {percent(told['low'])} to {percent(told['high'])}" if told else UNDEFINED
        last = f"{percent(final['mean'])} ± {100 * final['sem']:.1f}" if final else UNDEFINED
        rows.append(Row(Cell(role), (Cell(words), Cell(last))))
    flagged = context.published.get("figure1", {}).get("flagged") or {}
    if flagged:
        words = f"rises from {percent(flagged['first'])} to {percent(flagged['last'])}"
        rows.append(Row(Cell("Observers that flag"), (Cell(words), Cell(UNDEFINED))))
    caption = "Figure 1 as the paper's text describes it (5.6, 5.9)"
    heads = (
        TableColumn("Target", wide=True),
        TableColumn("Over the rounds", wide=True),
        TableColumn("Final round ± 1 SEM"),
    )
    return TableBlock("figure1-paper", caption, heads, tuple(rows))


_LINES: Final = (
    ("Seer", "before", "Seer, before it claims to be the Seer"),
    ("Seer", "after", "Seer, from that claim on"),
    ("Seer", "difference", "Difference within games"),
    ("Doctor", "blocked", "Doctor, after a night whose kill was blocked"),
    ("Doctor", "killed", "Doctor, after a night whose kill went through"),
    ("Doctor", "difference", "Difference"),
)


def events(findings: Result, context: Context) -> Section:
    """Return the two comparisons beside the paper's."""
    found = findings.get("events") or {}
    doctor = found.get("doctor") or {}
    rows = [_row(found, context, *line) for line in _LINES] if found else []
    nights = [look(doctor, name) for name in ("nights_blocked", "nights_killed", "nights_without_attempt")]
    notes: list[str] = []
    if any(night is not None for night in nights):
        blocked, killed, quiet = (count(night or 0) for night in nights)
        notes.insert(
            0,
            (
                f"Nights with a blocked kill {blocked}, with a kill {killed}; {quiet} without an attempt "
                f"count for neither."
            ),
        )
    table = TableBlock(
        "events-table",
        "Suspicion of statements around events, 95 % intervals over games",
        columns("Statements by the", "Avg. suspicion"),
        tuple(rows),
        tuple(notes),
        empty="It was not computed.",
    )
    return Section("events", "Events (5.3)", (table,))


def _row(events: Result, context: Context, role: str, name: str, label: str) -> Row:
    found = look(events, role.lower(), name)
    if name == "difference":
        return Row(Cell(label), (estimate(found, "points"),), total=True)
    cell = estimate(found, paper=context.paper("events", role.lower(), name))
    return Row(Cell(label, link=Selection(role=role)), (cell,))


def votes(findings: Result, _: Context) -> Section:
    """Return the link from suspicion to votes, hits by round, and the counterfactual vote."""
    found = findings.get("votes") or {}
    everybody = found.get("all_observers") or {}
    own, hits = found.get("own_argmax") or {}, found.get("hits") or {}
    rows: list[Row] = []
    if found:
        rows = [
            Row(
                Cell("Votes for the voter's own prime suspect"),
                (estimate(own), _chance(own), counted(own.get("abstentions"))),
            ),
            Row(
                Cell("Votes of non-wolves that hit a Werewolf"),
                (estimate(hits), _chance(hits), counted(hits.get("abstentions"))),
            ),
        ]
        for label, row in (
            ("All votes, as in the paper: for the voter's own prime suspect", everybody.get("own_argmax") or {}),
            ("All votes, as in the paper: of non-wolves that hit a Werewolf", everybody.get("hits") or {}),
        ):
            rows.append(Row(Cell(label), (estimate(row), _chance(row), counted(row.get("abstentions")))))
        for round_, row in (found.get("hits_by_round") or {}).items():
            rows.append(
                Row(Cell(f"… in round {round_}"), (estimate(row), _chance(row), counted(row.get("abstentions"))))
            )
    heads = columns("", "Share", "Chance", "Abstentions")
    notes = [
        "Prime suspect: whom the voter's own D is highest for after the day's last debate statement; m ties give 1/m.",
        "Abstentions stand apart.",
        "Unless it says all: votes for those of whom the voter could not tell whether they are Werewolves.",
    ]
    if unjudged := own.get("unjudged"):
        notes.append(
            f"Left out of the first line, too: {of(unjudged, 'vote')} by players who had judged nobody alive by then."
        )
    empty = "It was not computed."
    link = TableBlock("votes-table", "Votes, suspicion and chance", heads, tuple(rows), tuple(notes), empty=empty)
    other = found.get("counterfactual") or {}
    lines: tuple[Row, ...] = ()
    if other:
        lines = (
            Row(
                Cell("The highest mean suspicion among living non-wolves decides"),
                (estimate(other.get("suspicion_exile")),),
            ),
            Row(Cell("The real votes"), (estimate(other.get("real_exile")),)),
            Row(Cell("… of those that exiled somebody"), (estimate(other.get("real_exile_of_exiles")),)),
            Row(Cell("Chance"), (_chance(other),), total=True),
        )
    caption = "How often a vote exiles a Werewolf, and how often suspicion alone would have"
    told = (
        (
            f"Over {count(look(other, 'votes') or 0)} votes before which one of the living non-wolves had judged "
            "somebody alive; ties are split, and whoever has not judged a target suspects it by the prior."
        ),
    )
    ends = columns("Who decides", "A Werewolf goes")
    counterfactual = TableBlock("counterfactual", caption, ends, lines, told, empty=empty)
    return Section("votes", "Votes (4.5)", (link, counterfactual))


def _chance(row: Result) -> Cell:
    return value(row.get("chance"), reason="there was no vote")
