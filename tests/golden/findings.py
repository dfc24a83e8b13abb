"""Findings, tables and reports of three studies of before."""

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.golden.played import STUDIES, unpacked
from tests.golden.running import plain, wolfbus

UNPINNED: Final = ("results.csv", "croissant.json")
"""Hold figures that the findings hold too, or a hash of such, which is another on another processor."""


def values(folder: Path) -> dict[str, str]:
    """Report on every study in all forms, one of them as a page too."""
    found: dict[str, str] = {}
    for name in STUDIES:
        unpacked(name, folder)
        forms = ("--findings", "f.json", "--md", "f.md", "--csv", f"{name}-csv")
        if name == "models":
            forms += ("--html", "models.html")
        said = wolfbus(folder, "report", name, *forms, "--workers", "1")
        assert said.code == 0, said.err
        found[f"findings/{name}.json"] = leaves((folder / "f.json").read_text("utf-8"))
        found[f"findings/{name}.md"] = plain((folder / "f.md").read_text("utf-8"))
        for path in sorted((folder / f"{name}-csv").iterdir()):
            if path.name in UNPINNED:
                continue
            kept = found[f"findings/{name}/{path.name}"] = plain(path.read_bytes().decode())
            if path.suffix == ".json":
                found[f"findings/{name}/{path.name}"] = leaves(kept)
    found["findings/models.html.txt"] = words_of((folder / "models.html").read_text("utf-8"))
    return found


def leaves(text: str) -> str:
    """Return JSON as one line for each value, in the order of their paths."""
    return "".join(f"{path} = {value}\n" for path, value in sorted(_leaves("", json.loads(text))))


def _leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _leaves(f"{path}.{name}" if path else name, each)
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from _leaves(f"{path}[{number:04}]", each)
    else:
        yield path, json.dumps(value, ensure_ascii=False)


def words_of(page: str) -> str:
    """Return what a page says, a line for each piece of text, without figures, styles and scripts."""
    page = re.sub(r"<(svg|style|script|head)\b.*?</\1>", "", page, flags=re.DOTALL)
    pieces = (" ".join(html.unescape(piece).split()) for piece in re.split(r"<[^>]*>", page))
    return plain("".join(f"{piece}\n" for piece in pieces if piece))
