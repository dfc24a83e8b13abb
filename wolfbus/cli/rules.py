"""`wolfbus rules`."""

from __future__ import annotations

from pathlib import Path

import click

from wolfbus.cli.options import load_config
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
        from wolfbus.cli.template import config_template

        click.echo(config_template(config), nl=False)
    else:
        click.echo(rules_text(config), nl=False)
