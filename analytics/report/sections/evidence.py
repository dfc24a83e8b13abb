"""What may be said of a study and of its agents.

Of the study: primary metrics tested, headlines with intervals (paper 5.9), biases and retests. Our intervals resample
games, the paper's are mean ± 1.96 SEM; biases and how deception goes are exploratory. Of the agents: who conceals, who
detects, who wins with whoever plays beside and against it taken into account.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import inf
from typing import Any, Final

from analytics import Result, look
from analytics.metrics.abilities import DETECTION
from analytics.metrics.bootstrap import TELLING
from analytics.metrics.monitor import ANNOTATED
from analytics.metrics.primary import LEADS
from analytics.report.caveats import drawn_singly, only_forks
from analytics.report.context import Context, estimate_cell, value_cell
from analytics.report.specs import Line, phrase, specs, table
from wolfbus.files.document import Block, Cell, Heading, Section, TableBlock, plain
from wolfbus.files.formats import UNDEFINED, count, difference_unit, in_unit, percent
from wolfbus.files.printable import counted

_CLEAR: Final = {"above": "clear", "few": "too few games to tell"}
"""What a verdict lets say of who is before whom."""
_NAMES: Final = 8
"""Names that are shown: those that meet most more, or less, suspicion."""


def primary(findings: Result, context: Context) -> Section:
    """Return the primary metrics, each with the sentence that its test allows; of forks alone, nothing."""
    if only_forks(findings):
        return Section("primary", "What can be said, tested", ())
    tested = findings.get("primary") or {}
    lines = (_tested(name, row, context) for name, row in (tested.get("metrics") or {}).items())
    how = phrase("evidence/unusual" if tested.get("declared") else "evidence/usual")
    every, flips = "all " if tested.get("exact") else "", count(tested.get("flips") or 0)
    notes = (phrase("evidence/tested", how=how, every=every, flips=flips), "All else on this page is exploratory.")
    block = table("evidence/primary-table", findings, context, lines=lines, notes=notes)
    return Section("primary", "What can be said, tested", (block,))


def _tested(name: str, row: Mapping[str, Any], context: Context) -> Line:
    unit, first, verdict = str(row.get("unit") or "share"), row.get("agent"), str(row.get("verdict") or "undefined")
    if verdict == "undefined" and row.get("value") is not None:
        verdict = "untested"
    cells = {
        "value": Cell(UNDEFINED)
        if name in LEADS
        else value_cell(row.get("value"), unit, reason=look(row, "difference", "reason")),
        "baseline": Cell(in_unit(row.get("baseline"), unit)),
        "difference": estimate_cell(row.get("difference"), difference_unit(unit)),
        "p_adjusted": row.get("p_adjusted"),
    }
    if name in LEADS and first:
        what = {DETECTION: "AUC of suspicion against the role"}.get(LEADS[name], LEADS[name])
        who = f"{context.name(first)} before {context.name(str(row.get('second')))} in {what}"
        sentence = f"{who}: {_CLEAR.get(verdict, 'not clear')}"
    else:
        words = specs("evidence").verdicts
        sentence = words.get(name, {}).get(verdict) or words["any"][verdict].format(label=_label(name, row))
    return Line(Cell(sentence), cells)


def variability(findings: Result, context: Context) -> Section:
    """Return the table of headlines."""
    headlines = findings.get("variability") or {}
    metrics, blocks = headlines.get("metrics") or {}, headlines.get("blocks") or 0
    lines = (
        _headline(name, metric, context)
        for name, metric in metrics.items()
        if "/" not in name and (name not in ANNOTATED or metric.get("n"))
    )
    block_kind = str(headlines.get("block_kind"))
    kind = {"block": "blocks of the design", "deal": "deals"}.get(block_kind, "games")
    draws = count(headlines.get("draws") or 0)
    notes = [phrase("evidence/intervals", draws=draws, blocks=count(blocks), kind=kind)]
    if (by_design := headlines.get("design_blocks") or blocks) < blocks:
        few = {"blocks": counted(by_design, "block"), "single": drawn_singly(block_kind)}
        notes.append(phrase("evidence/single_games", **few))
    if 0 < blocks < TELLING:
        notes.append(phrase("evidence/few", telling=TELLING, kind=kind))
    block = table("evidence/headlines", findings, context, lines=lines, notes=notes)
    return Section("variability", "All headlines and their variability (5.9)", (block,))


def _headline(name: str, metric: Mapping[str, Any], context: Context) -> Line:
    unit = str(metric.get("unit") or "share")
    mean, half, everybody = metric.get("paper_mean"), metric.get("paper_half"), metric.get("all_observers")
    paper = context.paper(f"variability.metrics.{name}")
    spread = value_cell(mean, unit, paper=paper, reason=phrase("evidence/no_spread"))
    if mean is not None:
        plus_minus = "" if half is None else f" ± {100 * half:.1f}" if unit in {"share", "points"} else f" ± {half:.3f}"
        pooled = f"pooled {in_unit(everybody.get('value'), unit)}" if everybody else ""
        spread = replace(spread, text=spread.text + plus_minus, under=pooled)
    baseline = metric.get("baseline")
    label = "" if baseline is None else str(metric.get("baseline_label") or "")
    cells = {"pooled": estimate_cell(metric, unit), "baseline": Cell(in_unit(baseline, unit), label), "spread": spread}
    return Line(Cell(_label(name, metric)), cells)


def _label(name: str, metric: Mapping[str, Any]) -> str:
    label = str(metric.get("label") or name)
    return label[:1].upper() + label[1:]


def bias(findings: Result, context: Context) -> Section:
    """Return biases, test and retest, retention, lies by kind, and thoughts against words."""
    lying = findings.get("lying") or {}
    why = look(findings, "bias", "retest", "difference", "reason") or "there is nothing to compare"
    retention = (Line(Cell(str(row["round"])), row) for row in lying.get("retention") or ())
    lies = (Line(Cell(f"{row['kind']}, {row['phase']}, round {row['round']}"), row) for row in lying.get("lies") or ())
    return Section("bias", "Checks: biases, retests, how deception goes", (
        plain("Exploratory: among so many some stand out by chance."),
        table("evidence/biases", findings, context),
        _names(findings, context),
        table("evidence/retest", findings, context, why=why),
        table("evidence/retention", findings, context, lines=retention),
        table("evidence/lies-by-kind", findings, context, lines=lies),
        table("evidence/thoughts", findings, context),
    ))  # fmt: skip


def _names(findings: Result, context: Context) -> TableBlock:
    names = look(findings, "bias", "names") or {}
    defined = {name: row for name, row in (names.get("by_name") or {}).items() if row.get("value") is not None}
    furthest = sorted(defined, key=lambda name: -abs(defined[name]["value"]))[:_NAMES]
    p = names.get("p")
    note = phrase("evidence/furthest") + " " + ("" if p is None else phrase("evidence/names", p=in_unit(p, "p")))
    rows = {name: defined[name] for name in furthest}
    return table("evidence/bias-names", findings, context, rows=rows, notes=[note])


_GROUNDS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = {
    "role": ("what Werewolves say against what others say", {}),
    "truth": (
        "lies against all other statements with a checkable claim",
        {"hits": "by={agent}&judged=flagged&truth=lie", "truth": "lie"},
    ),
    "label": (
        "what speakers call deceptive against what they call truthful",
        {"hits": "by={agent}&judged=tp", "alarms": "by={agent}&judged=fp", "label": "deceptive"},
    ),
}
"""What is told apart, on each ground of truth, and the statements behind it."""


def agents(findings: Result, context: Context) -> Section:
    """Return both abilities on each ground of truth, and the agents' plain rates."""
    blocks: list[Block] = [plain(phrase("agents/intro"))]
    for by, (ground, links) in _GROUNDS.items():
        abilities = look(findings, "abilities", by) or {}
        blocks.append(Heading(f"{ground[:1].upper()}{ground[1:]}", f"abilities-{by}"))
        blocks.append(_abilities(findings, context, abilities, by=by, ground=ground, **links))
        if (roles := abilities.get("roles")) and any(roles.values()):
            names = dict.fromkeys(name for who in ("observer", "speaker") for name in roles.get(who) or {})
            rows = {name: {who: look(roles, who, name) for who in ("observer", "speaker")} for name in names}
            blocks.append(table("agents/roles", findings, context, rows=rows, by=by))
    base = look(findings, "headline", "all", "base_rate")
    constant = look(findings, "headline", "all", "constant_accuracy")
    rates = table("agents/agents-rates", findings, context, base=percent(base), constant=percent(constant))
    return Section(
        "agents", "Agents: who conceals, who detects", (*blocks, Heading("Each agent's own rates", "rates"), rates)
    )


def _abilities(findings: Result, context: Context, abilities: Mapping[str, Any], **words: Any) -> TableBlock:
    rows = abilities.get("agents") or {}
    ranked = {name: rows[name] for name in sorted(rows, key=lambda name: (*_rank(rows[name]), name))}
    several = (abilities.get("components") or 1) > 1
    without = () if several else ("Component",)
    notes = _remarks(abilities, several=several)
    words["reason"] = abilities.get("reason") or "it was not computed"
    return table("agents/abilities", findings, context, rows=ranked, notes=notes, without=without, **words)


def _remarks(abilities: Mapping[str, Any], *, several: bool) -> Iterator[str]:
    yield phrase("agents/model", draws=count(abilities.get("draws") or 0))
    if several:
        yield phrase("agents/apart")


def _rank(row: Mapping[str, Any]) -> tuple[float, int, float]:
    """Return what an agent's line is sorted by: its component, what is undefined, and the sum of the rest."""
    abilities = (look(row, name, "value") for name in ("sensitivity", "concealment"))
    values = [value for value in abilities if value is not None]
    component = row.get("component")
    return inf if component is None else component, -len(values), -sum(values)


def skill(findings: Result, context: Context) -> Section:
    """Return the skills of all agents, and how well they tell who wins."""
    skills = findings.get("skill") or {}
    without = skills.get("without_winner")
    notes = [phrase("agents/without_winner", games=counted(without, "game"))] if without else []
    reason = look(skills, "held_out", "reason") or "it was not computed"
    return Section("skill", "Skill of winning", (
        table("agents/skill-agents", findings, context, notes=notes),
        table("agents/skill-held-out", findings, context, reason=reason),
    ))  # fmt: skip
