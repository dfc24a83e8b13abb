"""Aligned columns of plain ASCII, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from typing import Final

from wolfbus.printable import cut_middle, told_apart

WIDTH: Final = 100
"""Columns that no line exceeds."""
UNDEFINED: Final = "-"
"""Stands for null; whoever prints it says below why."""


def grid(title: str, head: Sequence[str], rows: Sequence[Sequence[str]], why: str = "") -> list[str]:
    """Return a titled table: first column to the left, others to the right.

    Args:
        title: what the table shows.
        head: names of the columns.
        rows: cells as text.
        why: footnote on what "-" means here, printed only if there is one.
    """
    widths = [max(len(row[place]) for row in (head, *rows)) for place in range(len(head))]
    lines = [*note(title, indent=""), _line(head, widths), "  " + "-" * (sum(widths) + 2 * (len(widths) - 1))]
    lines += [_line(row, widths) for row in rows]
    if why and any(UNDEFINED in cell.split() for row in rows for cell in row):
        lines += note(f"{UNDEFINED} undefined: {why}")
    return [*lines, ""]


def note(text: str, indent: str = "  ") -> list[str]:
    """Return a paragraph wrapped to the width, in ASCII."""
    return textwrap.wrap(
        plain(text), WIDTH, initial_indent=indent, subsequent_indent=indent + "  ", break_on_hyphens=False
    )


def listing(name: str, items: Sequence[str]) -> list[str]:
    """Return items after a name, separated by commas; lines break between items only."""
    joined = ", ".join(plain(item).replace(" ", "\0") for item in items)
    return [line.replace("\0", " ") for line in note(f"{name}: {joined}")]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if place == 0 else cell.rjust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(["", first, *others]).rstrip()


def plain(text: str) -> str:
    """Return `text` in ASCII, anything else written as an escape."""
    return text.encode("ascii", "backslashreplace").decode("ascii")


def shortened(text: str, longest: int) -> str:
    """Return `text` in ASCII, cut in the middle to `longest` characters.

    Names of brains and models often differ at their ends only.
    """
    return cut_middle(plain(text), longest, "...")


def distinct(names: Iterable[str], longest: int) -> dict[str, str]:
    """Return names as `shortened` to `longest` characters; those that this makes equal are numbered in their order."""
    return told_apart(names, longest, shortened)


def percent(value: float | None, signed: bool = False) -> str:
    """Return a share as a percentage with one decimal, without the sign."""
    if value is None:
        return UNDEFINED
    shown = round(100 * value, 1) + 0.0
    return f"{shown:+.1f}" if signed else f"{shown:.1f}"


def number(value: float | None, decimals: int = 2) -> str:
    """Return a number with a fixed count of decimals."""
    return UNDEFINED if value is None else f"{round(value, decimals) + 0.0:.{decimals}f}"


def between(low: float | None, high: float | None, signed: bool = False) -> str:
    """Return an interval of shares in percent."""
    if low is None or high is None:
        return UNDEFINED
    return f"{percent(low, signed)} to {percent(high, signed)}"
