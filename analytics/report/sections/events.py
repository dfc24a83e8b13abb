"""Suspicion around events and in votes: claims, nights (paper 5.3), and whether suspicion decides (paper 4.5)."""

from __future__ import annotations

from typing import Final

from analytics import Result
from analytics.report.cells import counted, estimate, look, value
from analytics.report.context import Context
from analytics.report.links import Selection
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns
from wolfbus.document.formats import count, of

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
