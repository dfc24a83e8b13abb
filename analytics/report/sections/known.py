"""What could be known of who is a Werewolf when votes were held, what agents made of it, and what their own models say
after the games that they believed.
"""

from __future__ import annotations

from collections.abc import Iterator

from analytics import Result, look
from analytics.metrics.beliefs import MOMENTS
from analytics.metrics.ladder import RUNGS
from analytics.report.context import Context
from analytics.report.specs import Line, phrase, specs, table
from wolfbus.files.document import Cell, Section, plain
from wolfbus.files.printable import with_article


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
    sway = findings.get("sway") or {}
    blocks = (
        plain(phrase("ladder/intro")),
        table("ladder/rungs", findings, context, lines=lines),
        table("ladder/claims-used", findings, context, rows=of_agents),
        table("ladder/sway", findings, context, lines=_changes(sway, is_known=bool(sway))),
    )
    return Section("ladder", "What could be known", blocks)


def beliefs(findings: Result, context: Context) -> Section:
    """Return how well beliefs tell Werewolves, whether they add up, whether votes follow them, and how statements move
    them; empty where nobody was asked.
    """
    data = findings.get("beliefs") or {}
    if not data:
        return Section("beliefs", "Beliefs, asked outright", ())
    labels, scores, swings = specs("beliefs").words, data["scores"], data["swings"]
    scored = (
        Line(Cell(f"{labels[moment]}: {labels[rung]}"), scores[moment][rung])
        for moment, rungs in MOMENTS.items()
        for rung in rungs
        if scores[moment][rung]["brier"]["n"]
    )
    agents = [Line(Cell(context.name(agent)), row) for agent, row in data["by_agent"].items()]
    agents.append(Line(Cell("All"), data["overall"], total=True))
    changes = _changes(swings, is_known=bool(swings["overall"]["vote_swing"]["n"]))
    blocks = (
        plain(phrase("beliefs/intro")),
        table("beliefs/scores", findings, context, lines=scored),
        table("beliefs/agents", findings, context, lines=agents),
        table("beliefs/swings", findings, context, lines=changes),
    )
    return Section("beliefs", "Beliefs, asked outright", blocks)


def _changes(changes: Result, *, is_known: bool) -> Iterator[Line]:
    """Yield what statements change: by truth, by role, and of all where anything is known."""
    yield from (Line(Cell(truth), row) for truth, row in (changes.get("by_truth") or {}).items())
    for role, row in (changes.get("by_role") or {}).items():
        yield Line(Cell(f"of {with_article(role)}"), row)
    if is_known:
        yield Line(Cell("All"), changes["overall"], total=True)
