"""Rewrites what docs/commands.md says of each command, from the commands: ``python docs/make/commands.py``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from wolfbus.cli import GROUPS, cli

PAGE: Final = Path(__file__).parents[1] / "commands.md"
NOTICE: Final = "<!-- From here on made by: python docs/make/commands.py -->"
"""Stands once in the page; what is above it is written by hand."""


def rewritten(page: str) -> str:
    """Return the page with its part about each command made anew.

    Raises:
        ValueError: the notice does not stand in the page exactly once.
    """
    head, _ = page.split(NOTICE)
    context = click.Context(cli, info_name="wolfbus")
    lines = [head + NOTICE, ""]
    for title, group in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in group:
            command = cli.get_command(context, name)
            if command is None:
                raise ValueError(f"there is no command {name}")
            lines += _section(command, name, context)
    return "\n".join(lines)


def _section(command: click.Command, name: str, parent: click.Context) -> Iterator[str]:
    context = click.Context(command, info_name=name, parent=parent)
    level = "####" if parent.parent is not None else "###"
    yield from (f"{level} {context.command_path}", "")
    yield from ("```text", " ".join((context.command_path, *command.collect_usage_pieces(context))), "```", "")
    yield from _words(command.help or "")
    records = [
        record
        for parameter in command.get_params(context)
        if isinstance(parameter, click.Option)
        and "--help" not in parameter.opts
        and (record := parameter.get_help_record(context)) is not None
    ]
    if records:
        yield from ("| option | |", "| --- | --- |")
        yield from (f"| `{_cell(option)}` | {_cell(_plain(meaning))} |" for option, meaning in records)
        yield ""
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            if inner is not None:
                yield from _section(inner, each, context)


def _words(text: str) -> Iterator[str]:
    """Yield a help text as paragraphs; those whose lines are to be kept as they are become blocks."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b"):
            yield from ("```text", *paragraph.splitlines()[1:], "```", "")
        else:
            yield from (_plain(paragraph), "")


def _plain(text: str) -> str:
    """Return a text in which nothing is taken for markup."""
    words = " ".join(text.replace("\b", " ").split()).replace("<", "&lt;")
    return re.sub(r"([*\[])", r"\\\1", words)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
