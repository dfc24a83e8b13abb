"""`wolfbus rules`: the rules of a game in words, or as a TOML file to start from."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import click
from pydantic import BaseModel

from wolfbus.cli.options import config_option
from wolfbus.files.package_data import PackageData, field_docs, read_data
from wolfbus.game.config import GameConfig, rules_text
from wolfbus.running.brains import load_config


@click.command()
@config_option("Rules that differ from the paper's.")
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


class _Template(PackageData):
    players: str
    models: str
    endpoints: str
    examples: dict[str, str]


def config_template(config: GameConfig) -> str:
    """Return `config` as TOML with every field explained; fields without a value stand as comments."""
    from players.llm.settings import Endpoint, Model

    template = read_data("wolfbus.cli", "template", _Template)
    lines = ["# Rules of a WOLF game: every field, with its value and meaning."]
    _write_fields(lines, config)
    lines += [*template.players.splitlines(), "", "[deadlines]", *_comment(type(config.deadlines).__doc__ or "")]
    _write_fields(lines, config.deadlines)
    for heading, model in ((template.models, Model), (template.endpoints, Endpoint)):
        lines += heading.splitlines()
        for name, field in model.model_fields.items():
            lines += _comment(field_docs(model).get(name, ""))
            is_open = field.is_required() or field.default is None
            lines.append(f"# {name} = {template.examples.get(name) or ('…' if is_open else _toml(field.default))}")
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


def _comment(text: str) -> list[str]:
    return textwrap.wrap(" ".join(text.split()), 110, initial_indent="# ", subsequent_indent="# ")


def _toml(value: Any) -> str:
    # numbers, booleans, strings and lists of strings are written alike in JSON and TOML; tables are not
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {json.dumps(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
