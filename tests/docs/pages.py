"""The pages, and the blocks of commands in them.

A block that opens with ```` ```sh ```` is run, line by line; ```` ```sh together ```` is one script, for services that
run side by side; ```` ```sh elsewhere ```` needs what a test does not have (a key, Docker, somebody else's file): only
its words are checked.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PAGES: Final = (
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")),
    ROOT / "examples" / "README.md",
    ROOT / "examples" / "ladder" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
_FENCE: Final = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: the words after its fence, and its text."""

    kind: str
    text: str


def name_of(page: Path) -> str:
    """Return a page's path in the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [Block(*found.groups()) for found in _FENCE.finditer(page.read_text(encoding="utf-8"))]


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def commands(page: Path) -> list[str]:
    """Return every ``wolfbus …`` that a page tells to type, in blocks or in a sentence."""
    lines = [line for block in blocks(page) if block.kind.split()[:1] == ["sh"] for line in block.text.splitlines()]
    spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose(page))]
    parts = [part.strip() for line in (*lines, *spans) for part in re.split(r"&&|[;(]", line)]
    parts = [part.removeprefix("exec ") for part in parts]
    return [part for part in parts if part.startswith("wolfbus ")]
