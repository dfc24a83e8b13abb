"""Suspicion around events: the Seer's claim, the Doctor's success and failure (paper 5.3)."""

from __future__ import annotations

from typing import Final

from analytics import Result
from analytics.report.cells import estimate, look
from analytics.report.context import Context
from analytics.report.links import Selection
from wolfbus.document.blocks import Cell, Row, Section, Table, columns
from wolfbus.document.formats import count

_LINES: Final = (
    ("Seer", "before", "Seer, before it claims to be the Seer"),
    ("Seer", "after", "Seer, from that claim on"),
    ("Seer", "difference", "Difference within games"),
    ("Doctor", "blocked", "Doctor, after a night whose kill was blocked"),
    ("Doctor", "killed", "Doctor, after a night whose kill went through"),
    ("Doctor", "difference", "Difference"),
)


def section(findings: Result, context: Context) -> Section:
    """Return the two comparisons beside the paper's."""
    events = findings.get("events") or {}
    doctor = events.get("doctor") or {}
    rows = [_row(events, context, *line) for line in _LINES] if events else []
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
    table = Table(
        "events-table",
        "Suspicion of statements around events, 95 % intervals over games",
        columns("Statements by the", "Avg. suspicion"),
        tuple(rows),
        tuple(notes),
        context.contradictions("events"),
        empty="It was not computed.",
    )
    return Section("events", "Events (5.3)", (table,))


def _row(events: Result, context: Context, role: str, name: str, label: str) -> Row:
    found = look(events, role.lower(), name)
    if name == "difference":
        return Row(Cell(label), (estimate(found, "points"),), total=True)
    cell = estimate(found, paper=context.paper("events", role.lower(), name))
    return Row(Cell(label, link=Selection(role=role)), (cell,))
