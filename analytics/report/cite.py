"""How to cite the paper, the software and a study, as BibTeX."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from analytics.report.context import Context
from wolfbus.document.blocks import Listing, Section, plain
from wolfbus.document.visible import visible

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


def section(context: Context, games: Sequence[str]) -> Section:
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
