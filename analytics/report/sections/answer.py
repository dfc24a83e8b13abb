"""The first screen: one sentence of answer, one figure, one table, and what must be known before they are believed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from analytics import Result
from analytics.figures import Panel, forest
from analytics.measures.primary import LEADS
from analytics.report.caveats import SHOWN, alarms
from analytics.report.cells import counted, estimate, look
from analytics.report.context import Context
from analytics.report.drawings import drawing
from analytics.report.links import Selection
from analytics.report.verdicts import verdict
from wolfbus.document.blocks import (
    Block,
    Cell,
    LinkText,
    Part,
    Prose,
    Row,
    Section,
    Strong,
    TableBlock,
    columns,
    plain,
    warning,
)
from wolfbus.document.formats import between, count, of, percent, shown

_DOES: Final = {"best_detector": "detects", "best_deceiver": "conceals"}
_WHY: Final = {"few": "too few games", "exploratory": "not a primary metric here"}


def section(findings: Result, context: Context) -> Section:
    """Return the answer, the agents on both abilities, and what goes before believing them."""
    blocks: list[Block] = [Prose(tuple(sentence(findings, context))), _leads(context)]
    blocks += [warning(told) for told in alarms(findings, context)[:SHOWN]]
    found = look(findings, "abilities", "role") or {}
    groups = found.get("components") or 1
    caption = (
        "Who detects, who conceals: points with 95 % intervals, in d′, from one joint model of what Werewolves and "
        "others say to those who have to find out. Intervals that overlap rank nobody."
        + (" Agents with different numbers before their names never met: they do not compare." if groups > 1 else "")
    )
    empty = f"There is nothing to draw: {found.get('reason') or 'it was not computed'}."
    blocks.append(drawing("answer-figure", partial(drawn, found, context), caption, found, empty, table="answer-table"))
    blocks.append(agents(findings, context))
    return Section("answer", "In short", tuple(blocks))


def sentence(findings: Result, context: Context) -> Iterator[Part]:
    """Yield the answer: who won, and whether anybody detects or conceals best."""
    winners, games = look(findings, "outcomes", "winners") or {}, look(findings, "outcomes", "games") or 0
    if not games:
        yield Strong("No game could be read.")
        return
    won, finished = winners["werewolves"], winners["werewolves"]["n"]
    if finished:
        interval = between(won["low"], won["high"])
        told = f"{percent(won['share'])} of {of(finished, 'finished game')}"
        yield f"Werewolves won {told}" + (f" (95 % interval {interval})" if interval else "")
    else:
        yield f"None of {of(games, 'game')} is finished"
    groups = look(findings, "abilities", "role", "components") or 1
    if groups > 1:
        yield f"; the agents fall into {groups:,} groups that never met, so nobody can be best of all."
        return
    for question, does in _DOES.items():
        yield "; "
        first = look(findings, "primary", "metrics", question, "agent")
        said = verdict(findings, question)
        if said == "above" and first is not None:
            own = look(findings, "abilities", "role", "agents", first, LEADS[question]) or {}
            yield context.agent_link(first)
            yield Strong(f" {does} best")
            yield f" (d′ {shown(own.get('value'), 'logit')})"
        else:
            few = len(context.agents) < 2
            yield f"nobody clearly {does} best"
            yield f" ({'there is one agent' if few else _WHY.get(said, 'the first two are too close')})"
    yield "."


def drawn(found: Result, context: Context) -> str | None:
    """Return both abilities of every agent as a figure."""
    rows: dict[str, Any] = found.get("agents") or {}
    places = {name: row.get("component") or 0 for name, row in rows.items()}
    ranked = sorted(rows, key=lambda name: (places[name], -(look(rows[name], "sensitivity", "value") or 0.0), name))
    several = (found.get("components") or 1) > 1
    names = {name: f"{places[name] + 1}: {context.name(name)}" if several else context.name(name) for name in ranked}
    panels = [
        Panel(heading, axis, "logit", {names[name]: rows[name].get(ability) for name in ranked}, ink)
        for ability, heading, axis, ink in (
            ("sensitivity", "Sensitivity (detects)", "d′; 0: tells nothing apart", "pass"),
            ("concealment", "Concealment (is not detected)", "d′; 0: the average agent", "flag"),
        )
    ]
    return forest("abilities", "Agents by sensitivity and concealment", panels)


def agents(findings: Result, context: Context) -> TableBlock:
    """Return one line of each agent: games, wins, detection, lies told and confessed."""
    rows = []
    for name in context.agents:
        own, code = look(findings, "agents", name) or {}, context.code(name)
        told, ability = look(findings, "truth", "by_agent", name) or {}, look(findings, "abilities", "role", "agents")
        wins = [estimate(look(own, "wins", side)) for side in ("werewolves", "villagers")]
        both = Cell(
            " / ".join(cell.text for cell in wins),
            " / ".join(cell.under.partition(" · ")[0] for cell in wins),
            reason=None if any(cell.reason is None for cell in wins) else wins[0].reason,
        )
        cells = (
            counted(own.get("games")),
            both,
            estimate(look(ability, name, "sensitivity"), "logit"),
            estimate(told.get("lie_rate"), link=Selection(agent=code, truth="lie")),
            estimate(told.get("confession_rate"), link=Selection(agent=code, truth="lie", said="deceptive")),
        )
        rows.append(Row(context.agent_cell(name), cells))
    heads = columns("Agent", "Games", "Wins as Werewolf / village", "Detection, d′", "Lies told", "Lies confessed")
    notes = ("Lies told: of statements with a claim that can be checked; confessed: of these lies, by the self-label.",)
    return TableBlock("answer-table", "The agents", heads, tuple(rows), notes, empty="There are none.")


def _leads(context: Context) -> Prose:
    """Say where to see a game, whether the records hold, and how to cite."""
    whole = len(context.files) - len(context.problems)
    parts: list[Part] = []
    if context.indexed.games:
        parts += [LinkText("What a game looked like", "example"), " · "]
    parts += [
        LinkText("How to cite", "cite"),
        f": {count(whole)} of {of(len(context.files), 'record')} whole and sealed",
    ]
    hashes = [check.hash for check in context.checks if check.hash]
    if hashes:
        parts.append(f", study hash {hashes[0][:12]}…")
    return plain(*parts, " · ", LinkText("What was run", "design"))
