"""The appendix: the definitions that the code itself goes by, where the paper contradicts itself, and how to cite."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from analytics import Result
from analytics.definitions import Definition, definitions
from analytics.published import contradictions
from analytics.report.context import Context
from wolfbus.document.blocks import Block, Heading, LinkText, Listing, Part, Prose, Section, Strong, TermList, plain
from wolfbus.document.formats import listed, visible

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


def methods(_: Result, __: Context) -> Section:
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


def paper(_: Result, context: Context) -> Section:
    """Return every contradiction that was found, with what is done here."""
    told = contradictions() if context.published else ()
    return Section(
        "paper",
        "Where the paper contradicts itself",
        (TermList(tuple((each.says, (f"{each.but} {each.ours}",)) for each in told)),),
    )


PAPER: Final = r"""@misc{wolf2025,
  title  = {{WOLF}: Werewolf-based Observations for {LLM} Deception and Falsehoods},
  author = {Agarwal, Mrinal and Rana, Saad and Sundoro, Theo and Berhe, Hermela and Kim, Spencer
            and Sharma, Vasu and O'Brien, Sean and Zhu, Kevin},
  year   = {2025},
  note   = {Algoverse AI Research},
  url    = {https://github.com/MrinalA2009/WOLF-Werewolf-based-Observations-for-LLM-Deception-and-Falsehoods}
}"""

_LATEX: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "#": r"\#", "$": r"\$", "&": r"\&", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip


def cite(context: Context, games: Sequence[str]) -> Section:
    """Return the BibTeX entries; `games` are ids."""
    told = plain(
        "Cite the paper for the benchmark, and this study for its numbers. “wolfbus report --bibtex” prints the same."
    )
    return Section("cite", "How to cite", (told, Listing(bibtex(context, games))))


def bibtex(context: Context, games: Sequence[str]) -> str:
    """Return entries for the paper, for wolfbus, and for every study that was read, or for the games if none was.

    Args:
        context: the report's.
        games: ids of the games.
    """
    entries = [PAPER, _software(context)]
    entries += [_study(study, context) for study in context.studies]
    if not context.studies and games:
        digest = hashlib.sha256("\n".join(games).encode("utf-8", "replace")).hexdigest()[:8]
        noted = f"wolfbus {context.version}; SHA-256 of the games' ids begins with {digest}"
        entries.append(
            _entry("misc", f"wolfbus-games-{digest}", {"title": f"{len(games)} games of WOLF", "note": noted})
        )
    return "\n\n".join(entries) + "\n"


def _software(context: Context) -> str:
    fields = {
        "title": "wolfbus: the WOLF benchmark as independent actors on a message bus",
        "author": "{The wolfbus authors}",
        "version": context.version,
    }
    return _entry("software", "wolfbus", fields, raw=("author",))


def _study(study: Mapping[str, Any], context: Context) -> str:
    key = re.sub(r"[^A-Za-z0-9:-]", "-", str(study.get("study") or "study"))[:64]
    totals = study.get("totals") if isinstance(study.get("totals"), Mapping) else {}
    ended = (totals or {}).get("ended")
    name = str(study.get("name") or study.get("study") or "A study")
    told = [f"study {study.get('study')}"]
    if ended is not None:
        told.append(f"{ended} games played to their end")
    told.append(f"seed {study.get('seed')}")
    told.append(f"wolfbus {study.get('wolfbus') or context.version}")
    git = study.get("git")
    if isinstance(git, Mapping) and git.get("commit"):
        told.append(f"commit {git['commit']}{' with changes' if git.get('dirty') else ''}")
    if study.get("prompts"):
        told.append(f"prompts {study['prompts']}")
    told += [f"study hash {check.hash}" for check in context.checks if check.hash and check.study == study.get("study")]
    year = re.match(r"\d{4}", str(study.get("created") or ""))
    fields = {"title": f"{name}: a study with WOLF", "year": year[0] if year else "", "note": "; ".join(told)}
    return _entry("misc", key, fields)


def _entry(kind: str, key: str, fields: Mapping[str, str], raw: Sequence[str] = ()) -> str:
    lines = [f"  {name} = {{{value if name in raw else _latex(value)}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in visible(text[:500]))
