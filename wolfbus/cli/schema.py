"""`wolfbus schema`."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("name", required=False)
@click.option("--list", "names_only", is_flag=True, help="Print the names of all types.")
def schema(name: str | None, *, names_only: bool) -> None:
    """Print JSON Schema of every message and record line, or of the one type NAME."""
    from wolfbus.messages import schema as schemas

    if names_only:
        for each in schemas.names():
            click.echo(each)
        return
    value = schemas.schema() if name is None else schemas.schema_of(name)
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))
