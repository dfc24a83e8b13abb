"""The methods appendix, made from the definitions that the code itself goes by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from analytics import Result
from analytics.definitions import Definition, definitions
from analytics.report.context import Context
from wolfbus.document.blocks import Block, Heading, LinkText, Part, Prose, Section, Strong, TermList, plain
from wolfbus.document.formats import listed

TITLES: Final[Mapping[str, str]] = {
    "settings": "Units",
    "outcomes": "Outcomes",
    "production": "Production",
    "table1": "Table 1",
    "table2": "Table 2",
    "table3": "Table 3",
    "table4": "Table 4",
    "table5": "Table 5",
    "figure1": "Figure 1",
    "trends": "Trend",
    "curves": "Curves",
    "thresholds": "Thresholds",
    "recalibration": "Recalibration",
    "events": "Events",
    "votes": "Votes",
    "truth": "Truth",
    "abilities": "One scale for deceivers and detectors",
    "agents": "Each agent's own rates",
    "primary": "Primary metrics",
    "skill": "Skill of winning",
    "bias": "What suspicion should not follow",
    "lying": "How deception goes",
    "variability": "Variability",
    "intervals": "Intervals of the tables' cells",
    "claims": "Claims",
    "labels": "Labels",
    "headline": "Scores with and without repair",
    "repair": "Repair report",
    "cost": "Cost",
}
"""Sections of the findings, as the appendix names them; one that is missing here goes by its own name."""

_BEHIND: Final[Mapping[str, tuple[str, ...]]] = {
    "outcomes": ("outcomes", "production"),
    "figure1": ("figure1", "trends"),
    "calibration": ("curves", "thresholds", "recalibration"),
    "agents": ("abilities", "agents"),
    "repair": ("repair", "headline", "labels"),
    "design": ("settings",),
    "truth": ("truth", "claims"),
    "bias": ("bias", "lying"),
    "variability": ("primary", "variability", "intervals"),
}
"""Sections of the page, and those of the findings behind them where their names differ."""


def section(_: Result, __: Context) -> Section:
    """Return every definition, grouped as the findings are."""
    blocks: list[Block] = [
        plain(
            "What each number is, over what, when it is undefined, what needs no skill, what we chose where the paper "
            "is silent or contradicts itself, and the code that computes it."
        )
    ]
    for name in dict.fromkeys(each.section for each in definitions()):
        blocks.append(Heading(TITLES.get(name, name), f"methods-{name}"))
        blocks.append(TermList(tuple((each.title, _told(each)) for each in definitions() if each.section == name)))
    return Section("methods", "Methods", tuple(blocks))


def pointer(key: str) -> Prose | None:
    """Return where a section of the page is defined, None if it needs no definition.

    Args:
        key: of the section of the page.
    """
    known = {each.section for each in definitions()}
    behind = [name for name in _BEHIND.get(key, (key,)) if name in known]
    if not behind:
        return None
    parts: list[Part] = ["Methods: "]
    for place, name in enumerate(behind):
        parts += [", " if place else "", LinkText(TITLES.get(name, name), f"methods-{name}")]
    return Prose((*parts, "."), "note")


def _told(each: Definition) -> tuple[Part, ...]:
    return tuple(_parts(each))


def _parts(each: Definition) -> Iterator[Part]:
    yield each.words
    facts = (
        ("Formula", each.formula),
        ("Unit", each.units),
        ("Baseline", each.baseline),
        ("Interval", each.interval),
        ("Source", each.source if each.source.startswith("ours") else f"paper {each.source}"),
    )
    for name, told in facts:
        if told and told != "none":
            yield " "
            yield Strong(f"{name}:")
            yield " "
            yield f"{told}."
    for choice in each.choices:
        yield " "
        yield Strong("Choice:")
        yield " "
        yield choice
    if each.headline:
        yield " "
        yield Strong("Headline:")
        yield " "
        yield f"{listed(list(each.headline))}."
    yield " "
    yield Strong("Code:")
    yield " "
    yield f"{each.code}."
