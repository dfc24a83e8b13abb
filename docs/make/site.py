"""What the site shows beside the pages of docs: a game and a study that are played while it is built, and the page of a
study of models that was played before. MkDocs calls it (mkdocs.yml).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from mkdocs.structure.files import File, Files

ROOT: Final = Path(__file__).parents[2]
PLAYED: Final = (
    "play --seed 7 --game seven --out . --quiet",
    "page seven.ndjson -o game.html",
    "page seven.ndjson -o guess.html --spoiler-free",
    "run --players scripted*4,random*4 --games 12 --seed 1 --out study --quiet --workers 1",
    "report study --html report.html --workers 1",
    "report ladder --html ladder.html --workers 1",
)
"""Commands of wolfbus, in order."""
IN_ONE_PROCESS: Final = """
import sys
from wolfbus.cli import run
for line in sys.argv[1:]:
    if code := run(line.split()):
        sys.exit(f"wolfbus {line}: exit {code}")
"""
"""Runs them: to begin a process takes longer than most of them."""
SHOWN: Final = ("game.html", "guess.html", "report.html", "ladder.html")
"""What they leave that is shown, under look/."""
TOLD: Final = {"../CONTRIBUTING.md": "contributing.md"}
"""Files outside docs that are pages of the site, too."""


def on_files(files: Files, config: Any) -> Files:
    """Add what is played, and the pages from outside docs."""
    for name, content in _played():
        files.append(File.generated(config, f"look/{name}", content=content))
    for path, page in TOLD.items():
        text = (ROOT / "docs" / path).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_from_outside(text)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Return a page whose links to files outside docs lead to their pages, or are only named."""
    # the second word of a fence is for tests
    markdown = re.sub(r"^```(\w+) .*$", r"```\1", markdown, flags=re.MULTILINE)
    for path, page in TOLD.items():
        markdown = markdown.replace(f"]({path}", f"]({page}")
    return re.sub(r"\[([^]]+)\]\(\.\./([^)]+)\)", r"\1 (`\2`)", markdown)


def _from_outside(text: str) -> str:
    """Return the text of a file at the root with links as seen from docs."""
    return re.sub(r"\]\(docs/", "](", text)


def _played() -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples" / "ladder" / "run", Path(folder) / "ladder")
        words = [sys.executable, "-c", IN_ONE_PROCESS, *PLAYED]
        subprocess.run(words, cwd=folder, check=True, capture_output=True, timeout=600)
        for name in SHOWN:
            yield name, (Path(folder) / name).read_text(encoding="utf-8")
