"""Whether suspicion drives votes, whether votes hit, and whether suspicion alone would have done better."""

from __future__ import annotations

from analytics import Result
from analytics.report.cells import counted, estimate, look, value
from analytics.report.context import Context
from wolfbus.document.blocks import Cell, Row, Section, Table, columns
from wolfbus.document.formats import count, of


def section(findings: Result, _: Context) -> Section:
    """Return the link from suspicion to votes, hits by round, and the counterfactual vote."""
    votes = findings.get("votes") or {}
    own, hits = votes.get("own_argmax") or {}, votes.get("hits") or {}
    rows: list[Row] = []
    if votes:
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
        for round_, row in (votes.get("hits_by_round") or {}).items():
            rows.append(
                Row(Cell(f"… in round {round_}"), (estimate(row), _chance(row), counted(row.get("abstentions"))))
            )
    heads = columns("", "Share", "Chance", "Abstentions")
    notes = [
        "Prime suspect: whom the voter's own D is highest for after the day's last debate statement; m ties give 1/m.",
        "Abstentions stand apart.",
    ]
    if unjudged := own.get("unjudged"):
        notes.append(
            f"Left out of the first line, too: {of(unjudged, 'vote')} by players who had judged nobody alive by then."
        )
    empty = "It was not computed."
    link = Table("votes-table", "Votes, suspicion and chance", heads, tuple(rows), tuple(notes), empty=empty)
    other = votes.get("counterfactual") or {}
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
    counterfactual = Table("counterfactual", caption, ends, lines, told, empty=empty)
    return Section("votes", "Votes (4.5)", (link, counterfactual))


def _chance(row: Result) -> Cell:
    return value(row.get("chance"), reason="there was no vote")
