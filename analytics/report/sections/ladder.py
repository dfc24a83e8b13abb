"""What could be known of who is a Werewolf when votes were held, and what agents made of it."""

from __future__ import annotations

from collections.abc import Iterator

from analytics import Result, look
from analytics.metrics.ladder import RUNGS
from analytics.report.context import Context
from analytics.report.specs import Line, phrase, specs, table
from wolfbus.files.document import Cell, Section, plain


def ladder(findings: Result, context: Context) -> Section:
    """Return the scores of suspicion and of every rung, and what each agent made of public claims; empty without votes
    at which somebody could not be certain.
    """
    rungs = look(findings, "ladder", "rungs") or {}
    if not look(rungs, "suspicion", "brier", "n"):
        return Section("ladder", "What could be known", ())
    labels = specs("ladder").words
    lines = (Line(Cell(labels[rung]), rungs[rung]) for rung in RUNGS)
    agents = look(findings, "ladder", "by_agent") or {}
    of_agents = {
        agent: {**row, "own": look(row, "brier", "suspicion"), "honest": look(row, "brier", "honest")}
        for agent, row in agents.items()
    }
    return Section("ladder", "What could be known", (
        plain(phrase("ladder/intro")),
        table("ladder/rungs", findings, context, lines=lines),
        table("ladder/claims-used", findings, context, rows=of_agents),
        table("ladder/sway", findings, context, lines=_sway(findings)),
    ))  # fmt: skip


def _sway(findings: Result) -> Iterator[Line]:
    """Yield what statements do to suspicion of their speakers: by truth, by role, of all."""
    changes = look(findings, "sway") or {}
    for by, label in (("by_truth", "{}"), ("by_role", "of a {}")):
        yield from (Line(Cell(label.format(value)), row) for value, row in (changes.get(by) or {}).items())
    if changes.get("overall"):
        yield Line(Cell("All"), changes["overall"], total=True)
