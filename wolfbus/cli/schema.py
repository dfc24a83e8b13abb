"""`wolfbus schema`."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("name", required=False)
@click.option("--list", "names_only", is_flag=True, help="Print the names of all types.")
def schema(name: str | None, *, names_only: bool) -> None:
    """Print JSON Schema of every message and record line, or of the one type NAME."""
    from wolfbus.messages.schema import names, schema_of
    from wolfbus.messages.schema import schema as whole_schema

    if names_only:
        for type_name in names():
            click.echo(type_name)
        return
    value = whole_schema() if name is None else schema_of(name)
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
