"""Rewrites the figures of examples/ladder/README.md from its records: ``python docs/make/ladder.py``.

Sentences and tables are those of the study's own report, as `wolfbus report --md` has them; beside them stands how the
answers of each agent were read.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parents[2] / "examples" / "ladder"
PAGE: Final = FOLDER / "README.md"
NOTICE: Final = "<!-- From here on made by: python docs/make/ladder.py -->"
"""Stands once in the page; what is above it is written by hand."""
TABLES: Final = {
    "Who won": ("Who won, of finished games, with Wilson's 95 % interval",),
    "What was said, and admitted": (
        "Self-labelled deception by the speaker's role",
        "Lies told and admitted, by agent of the speaker",
    ),
    "What listeners made of it": ("What agents make of public claims",),
}
"""Tables of the report that the page shows, by the heading under which they stand there."""


def rewritten(page: str) -> str:
    """Return the page with its figures made anew.

    Raises:
        ValueError: the notice does not stand in the page exactly once.
        KeyError: the report has no section or table of a name that the page shows.
    """
    head, _ = page.split(NOTICE)
    with tempfile.TemporaryDirectory() as folder:
        # what a report keeps beside the records does not come into the repository
        shutil.copytree(FOLDER / "run", Path(folder) / "run")
        words = ("report", "run", "--findings", "findings.json", "--md", "report.md")
        subprocess.run([sys.executable, "-m", "wolfbus", *words], cwd=folder, check=True, capture_output=True)
        text = (Path(folder) / "report.md").read_text(encoding="utf-8")
        findings = json.loads((Path(folder) / "findings.json").read_bytes())
    lines = [NOTICE, "", *_section(text, "In short"), *_answers(findings)]
    for heading, titles in TABLES.items():
        lines += [f"## {heading}", "", *(line for title in titles for line in _table(text, title))]
    lines += [*_section(text, "What can be said, tested"), *_section(text, "What this study cannot show")]
    return head + "\n".join(lines).rstrip() + "\n"


def _answers(findings: Mapping[str, Any]) -> Iterator[str]:
    """Yield how each agent's answers were read, and what they cost."""
    facts = findings["comprehension"]["by_agent"]
    columns = {
        agent.removeprefix("llm:"): [*_readings(kinds), _facts(facts.get(agent))]
        for agent, kinds in findings["repair"]["by_brain"].items()
    }
    names = (
        "answers",
        "read at once",
        "mended",
        "asked for again",
        "copied",
        "defaults",
        "statements and reasons of votes in its own words",
        "facts of the game that are right",
    )
    yield from ("## How answers were read", "", f"| | {' | '.join(columns)} |", f"| --- |{' ---: |' * len(columns)}")
    for name, cells in zip(names, zip(*columns.values(), strict=True), strict=True):
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    for model, cost in findings["cost"]["by_model"].items():
        cached = 100 * cost["cached_tokens"] / cost["prompt_tokens"]
        yield (
            f"- {model}: {cost['calls']:,} calls, {cost['prompt_tokens']:,} prompt tokens, {cached:.0f} % of them from "
            f"the server's cache, {cost['completion_tokens']:,} tokens of replies."
        )
    yield ""


def _readings(kinds: Mapping[str, Any]) -> Iterator[str]:
    overall = kinds["overall"]
    mended = sum(overall[name] for name in ("extracted", "repaired", "coerced"))
    public = [kinds["by_kind"][kind] for kind in ("speak", "vote")]
    copied = sum(kind["copied"] for kind in public)
    accepted = sum(kind["accepted"] for kind in public)
    counts = (overall["replies"], overall["clean"], mended, overall["reasked"], overall["copied"], overall["defaulted"])
    yield from map("{:,}".format, counts)
    yield f"{accepted - copied} of {accepted}"


def _facts(measured: Mapping[str, Any] | None) -> str:
    value = None if measured is None else measured["all"]["value"]
    return "–" if measured is None or value is None else f"{100 * value:.0f} % of {measured['all']['n']}"


def _section(report: str, title: str) -> Iterator[str]:
    """Yield a section of the report whole, under its heading."""
    sections = dict(part.split("\n", 1) for part in report.split("\n## ")[1:])
    yield from (f"## {title}", sections[title].rstrip(), "")


def _table(report: str, title: str) -> Iterator[str]:
    """Yield a table of the report with its title and notes."""
    tables = dict(re.findall(r"^\*\*([^\n]+)\*\*\n(.*?)(?=^\*\*|^#|^>)", report, re.MULTILINE | re.DOTALL))
    yield from (f"**{title}**", tables[title].rstrip(), "")


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
