"""Text and values made safe to keep.

Lone surrogates go because UTF-8 cannot hold them, control characters because terminals would obey them.
"""

from __future__ import annotations

import json
import re
from typing import Any

_UNSAFE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_BOM = "\ufeff"


def clean_text(text: str) -> str:
    """Return `text` with U+FFFD for lone surrogates and without control characters other than tab and line ends."""
    if _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub("", _SURROGATE.sub("\ufffd", text))


def without_bom(text: str) -> str:
    """Return `text` without byte order marks at its start."""
    return text.lstrip(_BOM)


def clean_value(value: Any) -> Any:
    """Return a parsed JSON value with every string in it cleaned; the value itself where nothing had to be."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, list):
        items = [clean_value(item) for item in value]
        return value if all(new is old for new, old in zip(items, value, strict=True)) else items
    if isinstance(value, dict):
        changed = False
        members: dict[str, Any] = {}
        for key, item in value.items():
            new_key, new_item = clean_text(key), clean_value(item)
            changed = changed or new_key is not key or new_item is not item
            members[new_key] = new_item
        return _like(value, members) if changed else value
    return value


def _like(old: dict[str, Any], members: dict[str, Any]) -> dict[str, Any]:
    new = type(old)(members)
    if hasattr(old, "__dict__"):
        new.__dict__.update(old.__dict__)
    return new


def one_line(text: str, limit: int = 200) -> str:
    """Return `text` cleaned, on one line and at most `limit` characters long."""
    line = " ".join(clean_text(text).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def quoted(value: Any) -> str:
    """Return a short quotation of what a model wrote, for a note."""
    return one_line(json.dumps(value, ensure_ascii=False, default=str), 40)
