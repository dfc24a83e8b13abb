"""The leaderboard: who conceals, who detects, and what else is known of every agent."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from math import inf
from typing import Any, Final

from analytics import Result
from analytics.figures import leaderboard
from analytics.report.cells import counted, estimate, look, value
from analytics.report.context import Context
from analytics.report.drawings import drawing
from analytics.report.links import Selection
from wolfbus.document.blocks import Block, Cell, Heading, Prose, Row, Section, TableBlock, columns, plain
from wolfbus.document.formats import count, number, of

_AXES: Final = {
    "detects": "Detects",
    "conceals": "Conceals",
    "false_alarm": "False alarms",
    "suspected": "Suspected when truthful",
}


def section(findings: Result, context: Context) -> Section:
    """Return the two axes against self-labels and against truth, and the agents' plain rates."""
    blocks: list[Block] = [
        plain(
            "One scale, in logits: an agent that detects more flags more of the deceptions of the same speakers; one "
            "that conceals more has fewer of its own deceptions flagged by the same observers. 0 is the average agent "
            "of its component. Intervals that overlap do not rank anybody. Neither axis is skill by itself: who flags "
            "everything flags all deceptions, too, and who is never suspected conceals whatever it says. So read "
            "Detects beside False alarms, and Conceals beside Suspected when truthful; balanced accuracy and AUC are "
            "below."
        )
    ]
    for by, words in (("label", "self-labels"), ("truth", "objective truth")):
        found = look(findings, "abilities", by) or {}
        blocks.append(Heading(f"Against {words}", f"abilities-{by}"))
        drawn = partial(leaderboard, findings, "label" if by == "label" else "truth")
        caption = (
            f"Agents on two axes, against {words}: to the right those who detect more, upwards those who "
            f"conceal more, with 95 % intervals."
        )
        empty = f"There is nothing to draw: {found.get('reason') or 'no agent has both numbers'}."
        blocks += [drawing(f"leaderboard-{by}", drawn, caption, found, empty), _abilities(found, by, words, context)]
        blocks += _roles(found, by)
    blocks += [Heading("Each agent's own rates", "rates"), _rates(findings, context)]
    return Section("agents", "Agents: who conceals, who detects", tuple(blocks))


def _abilities(found: Mapping[str, Any], by: str, words: str, context: Context) -> TableBlock:
    agents = found.get("agents") or {}
    ranked = sorted(agents, key=lambda name: (*_rank(agents[name]), name))
    several = (found.get("components") or 1) > 1
    said = "deceptive" if by == "label" else None
    lie = None if by == "label" else "lie"
    rows = []
    for name in ranked:
        row, code = agents[name], context.code(name)
        cells = (
            estimate(
                row.get("detects"),
                "logit",
                link=Selection(by=code, judged="tp")
                if by == "label"
                else Selection(by=code, judged="flagged", truth="lie"),
            ),
            estimate(row.get("conceals"), "logit", link=Selection(agent=code, said=said, truth=lie)),
            estimate(row.get("false_alarm"), "logit", link=Selection(by=code, judged="fp") if by == "label" else None),
            estimate(row.get("suspected"), "logit"),
            counted(row.get("n_judged"), link=Selection(by=code, judged="judged")),
            counted(row.get("n_statements"), link=Selection(agent=code)),
            estimate(row.get("confession_rate")),
            counted(row.get("checkable"), link=Selection(agent=code, truth="checkable")),
            *([counted(row.get("component"))] if several else []),
        )
        rows.append(Row(context.agent_cell(name), cells))
    heads = columns(
        *("Agent", *_AXES.values(), "Judged", "Said", "Confesses", "Checkable"), *(["Component"] if several else [])
    )
    notes = [
        f"Regularised logistic model, intervals from {count(found.get('draws') or 0)} draws of games. In logits.",
        (
            "Confesses: share of its lies that an agent calls deceptive. One that never does is not measured "
            "by self-labels: see “Against objective truth”."
        ),
    ]
    spread = look(found, "statement_sd", "deceptive")
    if spread is not None:
        notes.append(
            f"Statements differ, too: the standard deviation of their effects is {number(spread, 2)} logits for "
            f"deceptive ones and {number(look(found, 'statement_sd', 'truthful'), 2)} for truthful ones."
        )
    if mistakes := found.get("mistakes_left_out"):
        notes.append(
            f"{of(mistakes, 'statement that is a mistake', 'statements that are mistakes')} count for neither."
        )
    if several:
        notes.append(
            "Agents of different components never met, directly or through others: their numbers do not compare. "
            "They stand by component."
        )
        if any(len({place for place in _places(row) if place is not None}) > 1 for row in agents.values()):
            notes.append(
                "Components are those of deceptive statements; on truthful ones, of which false alarms and suspicion "
                "when truthful are, agents meet otherwise."
            )
    empty = f"Undefined: {found.get('reason') or 'it was not computed'}."
    return TableBlock(
        f"abilities-{by}-table", f"Agents on one scale, against {words}", heads, tuple(rows), tuple(notes), empty=empty
    )


def _rank(row: Mapping[str, Any]) -> tuple[float, int, float]:
    """Return what an agent's line is sorted by: its component, what is undefined, and the sum of the rest."""
    known = [each for each in (look(row, name, "value") for name in ("detects", "conceals")) if each is not None]
    component = row.get("component")
    return inf if component is None else component, -len(known), -sum(known)


def _places(row: Mapping[str, Any]) -> list[int | None]:
    return list((row.get("components_of") or {}).values())


def _roles(found: Mapping[str, Any], by: str) -> list[TableBlock | Prose]:
    roles = found.get("roles") or {}
    alarms = found.get("false_alarm_roles") or {}
    fits = (roles, alarms) if alarms else (roles,)
    effects = [fit.get(who) or {} for fit in fits for who in ("observer", "speaker")]
    names = list(dict.fromkeys(name for of_one in effects for name in of_one))
    if not names:
        return []
    rows = tuple(Row(Cell(name), tuple(estimate(of_one.get(name), "logit") for of_one in effects)) for name in names)
    heads = ("Detects", "Conceals", "False alarms", "Suspected when truthful")[: len(effects)]
    return [TableBlock(f"abilities-{by}-roles", "What the role adds, in logits", columns("Role", *heads), rows)]


def _rates(findings: Result, context: Context) -> TableBlock:
    rows = []
    for name, row in (findings.get("agents") or {}).items():
        code = context.code(name)
        cells = (
            counted(row.get("games")),
            estimate(look(row, "wins", "villagers")),
            estimate(look(row, "wins", "werewolves")),
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
        *("Agent", "Games", "Wins with villagers", "Wins with Werewolves", "Statements", "Deceptive", "Caught"),
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
