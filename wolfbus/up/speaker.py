"""`Speaker`: what the processes of a house say, on one terminal."""

from __future__ import annotations

import itertools
import json
from typing import Final

import click

from wolfbus.printable import printable
from wolfbus.up.supervisor import OWN

_WIDTH: Final = len("moderator")
_LINE_AT_MOST: Final = 4000
_COLOURS: Final = ("cyan", "magenta", "blue", "yellow", "green", "bright_cyan", "bright_magenta", "bright_blue")


class Speaker:
    """Prints lines on stderr, each with the name of its process before it; in a terminal each name has a colour.

    Args:
        plain: print lines as they are, for programs, and what the supervisor says as JSON.
        quiet: print only what the supervisor itself says.
    """

    def __init__(self, *, plain: bool = False, quiet: bool = False) -> None:
        self._plain = plain
        self._quiet = quiet
        self._colours: dict[str, str] = {OWN: "white"}
        self._next = itertools.cycle(_COLOURS)

    def __call__(self, name: str, line: str) -> None:
        """Print a line of the process called `name`."""
        if self._quiet and name != OWN:
            return
        if self._plain:
            click.echo(json.dumps({"level": "info", "event": line, "service": OWN}) if name == OWN else line, err=True)
            return
        if name not in self._colours:
            self._colours[name] = next(self._next)
        click.echo(click.style(f"{name:{_WIDTH}} │ ", fg=self._colours[name]) + _harmless(line), err=True)


def _harmless(line: str) -> str:
    """Return a line without anything that a terminal would obey; a traceback's lines keep their indentation."""
    text = line.lstrip(" ")
    return " " * min(len(line) - len(text), 40) + printable(text, _LINE_AT_MOST)
