"""The kinds of logs that `wolfbus import` reads, each a module of its own here.

A kind is a module with `TITLE`, what it reads, in words; `looks_like(start)`, whether a file with these first bytes is
one; and `games(source)`, which yields a `ForeignLogBuilder` for every game. `KINDS` is where it is registered.
"""

from __future__ import annotations

import io
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final, Protocol, cast

from wolfbus.files.whole_file import open_file
from wolfbus.foreign.building import ForeignLogBuilder

KINDS: Final[dict[str, str]] = {
    "aiwolf": "wolfbus.foreign.kinds.aiwolf",
    "kaggle": "wolfbus.foreign.kinds.kaggle",
    "arena": "wolfbus.foreign.kinds.arena",
    "wolf": "wolfbus.foreign.kinds.wolf",
    "table": "wolfbus.foreign.kinds.table",
}
"""Modules by the names of their kinds."""

_START: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file of another table.

    Attributes:
        path: where it is.
        content: its bytes.
        roles: the run_meta.json of a log of the paper's code; None to look beside it.
    """

    path: Path
    content: bytes
    roles: Path | None = None

    @property
    def text(self) -> str:
        """Its text, without a byte order mark: UTF-8, or UTF-16 where that mark says so. Of bytes that are none there
        stands a sign for each.
        """
        encoding = "utf-16" if self.content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else "utf-8-sig"
        return self.content.decode(encoding, errors="replace")

    def lines_with_other_bytes(self) -> int:
        """Return how many lines of it hold bytes that are no text, for each of which a sign stands."""
        if self.content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
            return 0
        return sum(line.decode(errors="ignore").encode() != line for line in self.content.split(b"\n"))

    def lines(self) -> list[str]:
        """Return the lines of its text; what else Unicode ends a line with is part of one."""
        return [line.removesuffix("\n") for line in io.StringIO(self.text, newline=None)]


class ImportKind(Protocol):
    """What a kind's module holds."""

    TITLE: str

    def looks_like(self, start: bytes) -> bool:
        """Return whether a file with these first bytes is one of this kind; never raises."""

    def games(self, source: ImportSource) -> Iterator[ForeignLogBuilder]:
        """Yield every game of a file; raises RecordError with the line at fault."""


def kind_of(name: str) -> ImportKind:
    """Return the module of a kind."""
    return cast("ImportKind", import_module(KINDS[name]))


def recognised(path: Path) -> str | None:
    """Return the kind that a file looks like; None for none, and for what cannot be read."""
    try:
        with open_file(path) as file:
            start = file.read(_START) or b""
    except OSError:
        return None
    return next((name for name in KINDS if kind_of(name).looks_like(start)), None)


def hint_for(path: Path) -> str:
    """Return what to say of a file that is no record: what it looks like, and which command reads it; "" for nothing
    that is known.
    """
    name = recognised(path)
    if name is None:
        return ""
    return f"; it looks like {kind_of(name).TITLE}: wolfbus import {name} {path.name} --out DIR"
