"""The folder of values: text as it is where it is small, compressed where it is large."""

from __future__ import annotations

import difflib
import lzma
from collections.abc import Mapping
from itertools import islice
from pathlib import Path

VALUES = Path(__file__).with_name("values")
LARGE = 40_000
"""Bytes from which a value is kept compressed."""
LINES = 40
"""Lines of a difference that are shown."""


def read(name: str) -> str | None:
    """Return the value of that name, such as ``digests/embedded.txt``; None where there is none."""
    if (plain := VALUES / name).is_file():
        return plain.read_bytes().decode()
    if (packed := VALUES / f"{name}.xz").is_file():
        return lzma.decompress(packed.read_bytes()).decode()
    return None


def names(group: str) -> set[str]:
    """Return the names of all values of a group."""
    found = (path.relative_to(VALUES).as_posix() for path in (VALUES / group).rglob("*") if path.is_file())
    return {name.removesuffix(".xz") for name in found}


def write(group: str, found: Mapping[str, str]) -> list[str]:
    """Make `found` the values of a group, and return what changed, in lines."""
    changed = changes(group, found)
    for name in names(group) | set(found):
        if found.get(name) == read(name):
            continue
        for path in (VALUES / name, VALUES / f"{name}.xz"):
            path.unlink(missing_ok=True)
        if name in found:
            path = VALUES / name
            path.parent.mkdir(parents=True, exist_ok=True)
            content = found[name].encode()
            if len(content) < LARGE:
                path.write_bytes(content)
            else:
                packed = lzma.compress(content, format=lzma.FORMAT_XZ, preset=9)
                path.with_name(f"{path.name}.xz").write_bytes(packed)
    return changed


def changes(group: str, found: Mapping[str, str]) -> list[str]:
    """Return the first lines that differ between the values of a group and what was found; empty if none does."""
    lines = []
    for name in sorted(names(group) | set(found)):
        before, now = read(name), found.get(name)
        if before != now:
            lines += _difference(name, before or "", now or "")
    return lines


def _difference(name: str, before: str, now: str) -> list[str]:
    # a whole comparison of long texts takes minutes; what follows the first difference is compared for a while
    old, new = before.splitlines(), now.splitlines()
    same = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, same - 2)
    old, new = old[start : start + 400], new[start : start + 400]
    compared = difflib.unified_diff(old, new, f"{name} as pinned", f"{name} now", lineterm="", n=2)
    shown = [line[:300] for line in islice(compared, LINES)]
    return [*shown, f"  (lines from {start + 1} on)"]
