"""A config as a TOML file to start from: every field, its value, and what it means."""

from __future__ import annotations

import json
import textwrap
from typing import Any

from pydantic import BaseModel

from wolfbus.config import GameConfig

_PLAYERS = """
# Who plays: one spec, a list of one brain per seat, or a table of seat name to brain (needs `names`).
# players = "scripted*6,random*2"
"""


def config_template(config: GameConfig) -> str:
    """Return `config` as TOML with every field explained; fields without a value stand as comments."""
    lines = ["# Rules of a WOLF game: every field, with its value and meaning."]
    _write_fields(lines, config)
    lines.extend(_PLAYERS.splitlines())
    lines.extend(["", "[deadlines]", *_comment(type(config.deadlines).__doc__ or "")])
    _write_fields(lines, config.deadlines)
    return "\n".join(lines) + "\n"


def _write_fields(lines: list[str], model: BaseModel) -> None:
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            continue
        if field.description:
            lines.extend(["", *_comment(field.description)])
        lines.append(f"# {name} = …" if value is None else f"{name} = {_toml(value)}")


def _comment(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), 110, initial_indent="# ", subsequent_indent="# ")


def _toml(value: Any) -> str:
    # numbers, booleans, strings and lists of strings are written alike in JSON and TOML; tables are not
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {json.dumps(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
