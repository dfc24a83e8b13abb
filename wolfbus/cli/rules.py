"""`wolfbus rules`: the rules of a game in words, or as a TOML file to start from."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from wolfbus.cli.options import load_config
from wolfbus.config import GameConfig
from wolfbus.package_data import field_docs
from wolfbus.rules import rules_text


@click.command()
@click.option(
    "--config",
    "config_file",
    type=click.Path(path_type=Path),
    metavar="FILE.toml",
    help="Rules that differ from the paper's.",
)
@click.option(
    "--toml",
    "as_toml",
    is_flag=True,
    help="Print every field with its value and meaning, as a TOML file to start from.",
)
def rules(config_file: Path | None, *, as_toml: bool) -> None:
    """Print the rules of a game in words, from the very object the engine executes."""
    config = load_config(config_file).config
    if as_toml:
        click.echo(config_template(config), nl=False)
    else:
        click.echo(rules_text(config), nl=False)


_PLAYERS = """
# Who plays: one spec, a list of one brain per seat, or a table of seat name to brain (needs `names`).
# players = "llm:mini*6,scripted*2"
"""

_MODELS = """
# Language models by an alias of yours: `llm:mini` then names this one. Every member may be left out.

# [models.mini]
"""
_ENDPOINTS = """
# Servers, and how hard they may be pressed; models name them.

# [endpoints.local]
"""
_SHOWN = {
    "model": '"gpt-4o-mini"',
    "endpoint": '"local"',
    "url": '"http://localhost:8000/v1"',
    "key_env": '"OPENAI_API_KEY"',
    "follow_redirects": '"https://gpu2.example:8443"',
    "timeouts": "{ bid = 30.0, speak = 60.0 }",
    "price": "{ input = 0.0, cached = 0.0, output = 0.0 }   # US dollars per million tokens",
    "extra": "{ seed = 1 }",
}
"""What stands in the template where a default says too little."""


def config_template(config: GameConfig) -> str:
    """Return `config` as TOML with every field explained; fields without a value stand as comments."""
    lines = ["# Rules of a WOLF game: every field, with its value and meaning."]
    _write_fields(lines, config)
    lines.extend(_PLAYERS.splitlines())
    lines.extend(["", "[deadlines]", *_comment(type(config.deadlines).__doc__ or "")])
    _write_fields(lines, config.deadlines)
    _write_models(lines)
    return "\n".join(lines) + "\n"


def _write_fields(lines: list[str], model: BaseModel) -> None:
    docs = field_docs(type(model))
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            continue
        if name in docs:
            lines.extend(["", *_comment(docs[name])])
        lines.append(f"# {name} = …" if value is None else f"{name} = {_toml(value)}")


def _write_models(lines: list[str]) -> None:
    from players.llm.settings import Endpoint, Model

    for heading, model in ((_MODELS, Model), (_ENDPOINTS, Endpoint)):
        lines.extend(heading.splitlines())
        for name, field in model.model_fields.items():
            lines.extend(_comment(field_docs(model).get(name, "")))
            default = "…" if field.is_required() or field.default is None else field.default
            lines.append(f"# {name} = {_SHOWN.get(name) or (default if default == '…' else _toml(default))}")


def _comment(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), 110, initial_indent="# ", subsequent_indent="# ")


def _toml(value: Any) -> str:
    # numbers, booleans, strings and lists of strings are written alike in JSON and TOML; tables are not
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {json.dumps(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
