"""Writing settings as TOML, so that a study's folder says what was played in the form it was told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(table: Mapping[str, Any]) -> str:
    """Return a table as a TOML document: plain members first, then a section for each table in it.

    Members that are None are left out, for TOML has no word for them.
    """
    return "\n".join(_lines(table, ())) + "\n"


def _lines(table: Mapping[str, Any], path: tuple[str, ...]) -> list[str]:
    members = {name: value for name, value in table.items() if value is not None}
    plain = {name: value for name, value in members.items() if not isinstance(value, Mapping)}
    sections = {name: value for name, value in members.items() if isinstance(value, Mapping)}
    lines = []
    if path and (plain or not sections):
        lines += ["", f"[{'.'.join(map(_key, path))}]"]
    lines += [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, section in sections.items():
        lines += _lines(section, (*path, name))
    return lines


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _text(name)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    # numbers and booleans are written alike in JSON and TOML
    return json.dumps(value, allow_nan=False)


def _text(text: str) -> str:
    # JSON escapes what TOML forbids, but for DEL; a pair of surrogates is no character in TOML, so none is escaped
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
