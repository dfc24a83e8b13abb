"""Agents: who conceals, who detects, who wins with whoever plays beside and against it taken into account."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, Final

from analytics import Result, look
from analytics.report.context import Context
from analytics.report.specs import table, told
from wolfbus.document.blocks import Block, Heading, Section, TableBlock, plain
from wolfbus.document.formats import count, number, of, percent

_GROUNDS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "role": ("Werewolves against the others", {}),
    "truth": (
        "lies against true statements",
        {"hits": "by={agent}&judged=flagged&truth=lie", "truth": "lie"},
    ),
    "label": (
        "self-labels",
        {"hits": "by={agent}&judged=tp", "alarms": "by={agent}&judged=fp", "said": "deceptive"},
    ),
}
"""What is told apart, on each ground of truth, and the statements behind it."""


def agents(findings: Result, context: Context) -> Section:
    """Return both abilities on each ground of truth, and the agents' plain rates."""
    blocks: list[Block] = [plain(told("agents/intro"))]
    for by, (ground, links) in _GROUNDS.items():
        found = look(findings, "abilities", by) or {}
        blocks.append(Heading(f"{ground[:1].upper()}{ground[1:]}", f"abilities-{by}"))
        blocks.append(_abilities(findings, context, found, by=by, ground=ground, **links))
        if (roles := found.get("roles")) and any(roles.values()):
            names = dict.fromkeys(name for who in ("observer", "speaker") for name in roles.get(who) or {})
            rows = {name: {who: look(roles, who, name) for who in ("observer", "speaker")} for name in names}
            blocks.append(table("agents/roles", findings, context, rows=rows, by=by))
    base, constant = (look(findings, "table3", "overall", name) for name in ("base_rate", "constant_accuracy"))
    rates = table("agents/agents-rates", findings, context, base=percent(base), constant=percent(constant))
    return Section(
        "agents", "Agents: who conceals, who detects", (*blocks, Heading("Each agent's own rates", "rates"), rates)
    )


def _abilities(findings: Result, context: Context, found: Mapping[str, Any], **words: Any) -> TableBlock:
    rows = found.get("agents") or {}
    ranked = {name: rows[name] for name in sorted(rows, key=lambda name: (*_rank(rows[name]), name))}
    several = (found.get("components") or 1) > 1
    without = () if several else ("Component",)
    notes = _remarks(found, several=several)
    words["reason"] = found.get("reason") or "it was not computed"
    return table("agents/abilities", findings, context, rows=ranked, notes=notes, without=without, **words)


def _remarks(found: Mapping[str, Any], *, several: bool) -> Iterator[str]:
    yield told("agents/model", draws=count(found.get("draws") or 0))
    if (spread := found.get("statement_sd")) is not None:
        yield told("agents/spread", spread=number(spread, 2))
    if mistakes := found.get("mistakes_left_out"):
        noun = "statement that is a mistake", "statements that are mistakes"
        yield told("agents/mistakes", mistakes=of(mistakes, *noun))
    if several:
        yield told("agents/apart")


def _rank(row: Mapping[str, Any]) -> tuple[float, int, float]:
    """Return what an agent's line is sorted by: its component, what is undefined, and the sum of the rest."""
    known = [each for each in (look(row, name, "value") for name in ("sensitivity", "concealment")) if each is not None]
    component = row.get("component")
    return inf if component is None else component, -len(known), -sum(known)


def skill(findings: Result, context: Context) -> Section:
    """Return the skills of all agents, and how well they tell who wins."""
    found = findings.get("skill") or {}
    without = found.get("without_winner")
    notes = [told("agents/without_winner", games=of(without, "game"))] if without else []
    reason = look(found, "held_out", "reason") or "it was not computed"
    return Section("skill", "Skill of winning", (
        table("agents/skill-agents", findings, context, notes=notes),
        table("agents/skill-held-out", findings, context, reason=reason),
    ))  # fmt: skip
