"""The appendix: the definitions that the code itself goes by, where the paper contradicts itself, and how to cite."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analytics import Result
from analytics.reference import Definition, contradictions, definitions
from analytics.report.context import Context
from analytics.report.specs import phrase, specs
from wolfbus.files.document import Block, Heading, LinkText, Listing, Part, Prose, Section, Strong, TermList, plain
from wolfbus.files.formats import listed
from wolfbus.files.printable import counted, visible


def methods(_: Result, __: Context) -> Section:
    """Return every definition, grouped as the findings are."""
    blocks: list[Block] = [plain(phrase("methods/methods"))]
    for name in dict.fromkeys(definition.section for definition in definitions()):
        blocks.append(Heading(_title(name), f"methods-{name}"))
        chapter = [definition for definition in definitions() if definition.section == name]
        blocks.append(TermList(tuple((definition.title, _explained(definition)) for definition in chapter)))
    return Section("methods", "Methods", tuple(blocks))


def pointer(key: str) -> Prose | None:
    """Return where a section of the page is defined, None if it needs no definition.

    Args:
        key: of the section of the page.
    """
    sections = {definition.section for definition in definitions()}
    chapters = [name for name in specs("methods").behind.get(key, (key,)) if name in sections]
    if not chapters:
        return None
    parts: list[Part] = ["Methods: "]
    for place, name in enumerate(chapters):
        parts += [", " if place else "", LinkText(_title(name), f"methods-{name}")]
    return Prose((*parts, "."), "note")


def _title(name: str) -> str:
    return specs("methods").titles.get(name, name)


def _explained(definition: Definition) -> tuple[Part, ...]:
    facts = [
        ("Formula", definition.formula),
        ("Unit", definition.units),
        ("Baseline", definition.baseline),
        ("Interval", definition.interval),
        ("Source", definition.source if definition.source.startswith("ours") else f"paper {definition.source}"),
    ]
    lines = [(name, f"{fact}.") for name, fact in facts if fact and fact != "none"]
    lines += [("Choice", choice) for choice in definition.choices]
    if definition.headline:
        lines.append(("Headline", f"{listed(list(definition.headline))}."))
    lines.append(("Code", f"{definition.code}."))
    return (definition.words, *(part for name, fact in lines for part in (" ", Strong(f"{name}:"), f" {fact}")))


def paper(_: Result, context: Context) -> Section:
    """Return every contradiction that was found, with what is done here."""
    contradicted = contradictions() if context.published else ()
    terms = tuple((claim.says, (f"{claim.but} {claim.choice}",)) for claim in contradicted)
    return Section("paper", "Where the paper contradicts itself", (TermList(terms),))


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
    return Section("cite", "How to cite", (plain(phrase("methods/cite")), Listing(bibtex(context, games))))


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
        fields = {
            "title": f"{counted(len(games), 'game')} of WOLF",
            "note": f"wolfbus {context.version}; SHA-256 of the games' ids begins with {digest}",
        }
        entries.append(_entry("misc", f"wolfbus-games-{digest}", fields))
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
    ended, git = (study.get("totals") or {}).get("ended"), study.get("git") or {}
    facts = [
        f"study {study.get('study')}",
        "" if ended is None else f"{counted(ended, 'game')} played to {'its' if ended == 1 else 'their'} end",
        f"SHA-256 of its seed {study['seed_sha256']}" if study.get("seed_sha256") else "",
        f"wolfbus {study.get('wolfbus') or context.version}",
        f"commit {git['commit']}{' with changes' if git.get('dirty') else ''}" if git.get("commit") else "",
        f"prompts {study['prompts']}" if study.get("prompts") else "",
        *(f"study hash {check.hash}" for check in context.checks if check.hash and check.study == study.get("study")),
    ]
    name = study.get("name") or study.get("study") or "A study"
    year = (study.get("created") or "")[:4]
    fields = {"title": f"{name}: a study with WOLF", "year": year, "note": "; ".join(filter(None, facts))}
    return _entry("misc", key, fields)


def _entry(kind: str, key: str, fields: Mapping[str, str], raw: Sequence[str] = ()) -> str:
    lines = [f"  {name} = {{{value if name in raw else _latex(value)}}}" for name, value in fields.items() if value]
    return f"@{kind}{{{key},\n" + ",\n".join(lines) + "\n}"


def _latex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in visible(text[:500]))
