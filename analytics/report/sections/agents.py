"""Agents: who conceals, who detects, who wins with whoever plays beside and against it taken into account."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any, Final, Literal

from analytics import Result
from analytics.report.context import Context, Selection, counted, estimate, look, value
from wolfbus.document.blocks import Block, Cell, Heading, Prose, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import count, number, of

_AXES: Final = {
    "sensitivity": "Sensitivity",
    "criterion": "Criterion",
    "concealment": "Concealment",
    "suspected": "Suspected anyhow",
}
_GROUNDS: Final[Mapping[Literal["role", "truth", "label"], str]] = {
    "role": "Werewolves against the others",
    "truth": "lies against true statements",
    "label": "self-labels",
}
"""What is told apart, on each ground of truth."""
_AXES_OF_OBSERVERS: Final = ("sensitivity", "criterion")
_AXES_OF_SPEAKERS: Final = ("concealment", "suspected")


def agents(findings: Result, context: Context) -> Section:
    """Return both abilities on each ground of truth, and the agents' plain rates."""
    blocks: list[Block] = [
        plain(
            "One joint model, in d′. Sensitivity: flags tell deceptive from honest statements (0: not at all); "
            "criterion: how sparing they are. Concealment: observers tell its deceptions less than others' (0: the "
            "average agent); suspected anyhow: flagged whatever it says."
        )
    ]
    for by, words in _GROUNDS.items():
        found = look(findings, "abilities", by) or {}
        blocks.append(Heading(f"{words[:1].upper()}{words[1:]}", f"abilities-{by}"))
        blocks += [_abilities(found, by, words, context), *_roles(found, by)]
    blocks += [Heading("Each agent's own rates", "rates"), _rates(findings, context)]
    return Section("agents", "Agents: who conceals, who detects", tuple(blocks))


def _abilities(found: Mapping[str, Any], by: str, words: str, context: Context) -> TableBlock:
    agents = found.get("agents") or {}
    ranked = sorted(agents, key=lambda name: (*_rank(agents[name]), name))
    several = (found.get("components") or 1) > 1
    said = {"label": "deceptive"}.get(by)
    lie = {"truth": "lie"}.get(by)
    judged = {"label": Selection(judged="tp"), "truth": Selection(judged="flagged", truth="lie")}.get(by)
    rows = []
    for name in ranked:
        row, code = agents[name], context.code(name)
        cells = (
            estimate(row.get("sensitivity"), "logit", link=None if judged is None else replace(judged, by=code)),
            estimate(row.get("criterion"), "logit", link=Selection(by=code, judged="fp") if by == "label" else None),
            estimate(row.get("concealment"), "logit", link=Selection(agent=code, said=said, truth=lie)),
            estimate(row.get("suspected"), "logit"),
            counted(row.get("n_judged"), link=Selection(by=code, judged="judged")),
            counted(row.get("n_statements"), link=Selection(agent=code)),
            *([counted(row.get("component"))] if several else []),
        )
        rows.append(Row(context.agent_cell(name), cells))
    heads = columns(*("Agent", *_AXES.values(), "Judged", "Said"), *(["Component"] if several else []))
    notes = [
        f"Regularised logistic model, intervals from {count(found.get('draws') or 0)} draws of games. In d′.",
    ]
    spread = found.get("statement_sd")
    if spread is not None:
        told = "Statements differ, too: the standard deviation of their effects is"
        notes.append(f"{told} {number(spread, 2)} logits.")
    if mistakes := found.get("mistakes_left_out"):
        notes.append(
            f"{of(mistakes, 'statement that is a mistake', 'statements that are mistakes')} count for neither."
        )
    if several:
        notes.append(
            "Agents of different components never met, directly or through others: their numbers do not compare. "
            "They stand by component."
        )
    empty = f"Undefined: {found.get('reason') or 'it was not computed'}."
    return TableBlock(
        f"abilities-{by}-table", f"Agents on one scale: {words}", heads, tuple(rows), tuple(notes), empty=empty
    )


def _rank(row: Mapping[str, Any]) -> tuple[float, int, float]:
    """Return what an agent's line is sorted by: its component, what is undefined, and the sum of the rest."""
    known = [each for each in (look(row, name, "value") for name in ("sensitivity", "concealment")) if each is not None]
    component = row.get("component")
    return inf if component is None else component, -len(known), -sum(known)


def _roles(found: Mapping[str, Any], by: str) -> list[TableBlock | Prose]:
    roles = found.get("roles") or {}
    effects = [
        (who, name)
        for who, names in (("observer", _AXES_OF_OBSERVERS), ("speaker", _AXES_OF_SPEAKERS))
        for name in names
    ]
    names = list(dict.fromkeys(name for who in ("observer", "speaker") for name in roles.get(who) or {}))
    if not names:
        return []
    rows = tuple(
        Row(Cell(role), tuple(estimate(look(roles, who, role, name), "logit") for who, name in effects))
        for role in names
    )
    heads = columns("Role", *(_AXES[name] for _, name in effects))
    return [TableBlock(f"abilities-{by}-roles", "What the role adds, in d′", heads, rows)]


def _rates(findings: Result, context: Context) -> TableBlock:
    rows = []
    for name, row in (findings.get("agents") or {}).items():
        code = context.code(name)
        cells = (
            counted(row.get("statements"), link=Selection(agent=code)),
            estimate(row.get("deception_rate"), link=Selection(agent=code, said="deceptive")),
            estimate(row.get("caught"), link=Selection(agent=code, judged="tp")),
            estimate(row.get("accuracy"), link=Selection(by=code, judged="scored")),
            estimate(row.get("balanced_accuracy")),
            estimate(row.get("auc"), "score"),
            estimate(row.get("suspicion_as_wolf")),
            estimate(row.get("suspicion_as_villager")),
            estimate(row.get("vote_hit")),
        )
        rows.append(Row(context.agent_cell(name), cells))
    heads = columns(
        *("Agent", "Statements", "Deceptive", "Caught"),
        *("Accuracy", "Balanced accuracy", "AUC", "Suspected as Werewolf", "Suspected otherwise", "Votes that hit"),
    )
    base, constant = (
        look(findings, "table3", "overall", "base_rate"),
        look(findings, "table3", "overall", "constant_accuracy"),
    )
    baseline = value(base).text, value(constant).text
    notes = (
        (
            "Caught: share of judgements of its deceptive statements that flag them. Each rate has its own n "
            "and 95 % interval."
        ),
        (
            f"Over all agents {baseline[0]} of judged statements are deceptive, and the constant guess has "
            f"accuracy {baseline[1]}; chance has balanced accuracy 50 % and AUC 0.5."
        ),
    )
    return TableBlock(
        "agents-rates",
        "Each agent's own rates, whoever it met",
        heads,
        tuple(rows),
        notes,
        empty="They were not computed.",
    )


def skill(findings: Result, context: Context) -> Section:
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
