"""Who wins, with whoever plays beside and against it taken into account."""

from __future__ import annotations

from analytics import Result
from analytics.report.cells import counted, estimate, look, value
from analytics.report.context import Context
from wolfbus.document.blocks import Cell, Row, Section, TableBlock, columns
from wolfbus.document.formats import of


def section(findings: Result, context: Context) -> Section:
    """Return the skills of all agents, and how well they tell who wins."""
    found = findings.get("skill") or {}
    rows = []
    for name, row in (found.get("agents") or {}).items():
        cells = [
            estimate(look(row, side, what), unit)
            for side in ("werewolf", "village")
            for what, unit in (("wins", "share"), ("skill", "logit"))
        ]
        rows.append(Row(context.agent_cell(name), tuple(cells)))
    notes = [
        "Wins: of how many games the side would win were all its seats the agent's, against average agents.",
        "Skill: the same in logits; 0 is the average agent.",
    ]
    if (without := found.get("without_winner")) and rows:
        notes.append(f"{of(without, 'game')} that nobody won count for neither side.")
    heads = columns("Agent", "Wins as Werewolf", "Skill as Werewolf", "Wins with the village", "Skill with the village")
    table = TableBlock(
        "skill-agents",
        "Skill of winning",
        heads,
        tuple(rows),
        tuple(notes) if rows else (),
        empty="It was not computed.",
    )
    held = found.get("held_out") or {}
    reason = held.get("reason") or "it was not computed"
    told = (
        Row(Cell("The model, of games it was not fitted to"), (value(held.get("brier"), "score", reason=reason),)),
        Row(Cell("Always the Werewolves' share of wins"), (value(held.get("constant"), "score", reason=reason),)),
        Row(Cell("What the model is better by"), (estimate(held.get("difference") or {"reason": reason}, "score"),)),
        Row(Cell("Games that somebody won"), (counted(found.get("games")),)),
    )
    scored = TableBlock("skill-held-out", "Does it tell who wins?", columns("", "Brier score"), told)
    return Section("skill", "Skill of winning", (table, scored))
