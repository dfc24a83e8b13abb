"""Blocks as text: for a terminal, with aligned columns and wrapped paragraphs, and as Markdown for a repository."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from wolfbus.document.blocks import (
    Block,
    Bullets,
    Cell,
    Figure,
    Heading,
    LinkText,
    Listing,
    Part,
    Prose,
    Section,
    Strong,
    TableBlock,
    TermList,
)
from wolfbus.document.formats import visible

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table as Grid

WIDTH: Final = 100
"""Columns that no line exceeds."""
_INDENT: Final = "  "


def written(blocks: Iterable[Block], width: int = WIDTH) -> str:
    """Return blocks as text that ends in a newline, an empty line between two of them; drawings are left to the page.

    Args:
        blocks: what to tell.
        width: columns that no line exceeds, but those of a listing.
    """
    parts = ("\n".join(_block(block, width)) for block in blocks)
    return "\n\n".join(part for part in parts if part) + "\n"


def _block(block: Block, width: int) -> Iterator[str]:
    match block:
        case Prose():
            mark = "WARNING: " if block.tone == "warning" else ""
            yield from wrapped(mark + _words(block.parts), width)
        case Bullets():
            for item in block.items:
                yield from wrapped(f"- {_words(item)}", width)
        case Heading():
            yield from wrapped(block.text, width)
        case TableBlock():
            yield from _table(block, width)
        case Figure():
            pass
        case Listing():
            yield from visible(block.text, lines=True).splitlines()
        case TermList():
            for term, parts in block.items:
                yield from wrapped(f"{term}: {_words(parts)}", width)


def wrapped(text: str, width: int = WIDTH, indent: str = "") -> list[str]:
    """Return a paragraph as lines; all but the first are set in."""
    return textwrap.wrap(
        _plain(text), width, initial_indent=indent, subsequent_indent=indent + _INDENT, break_on_hyphens=False
    )


def _words(parts: Sequence[Part]) -> str:
    return "".join(part if isinstance(part, str) else part.text for part in parts)


def _plain(text: str) -> str:
    # whoever copies a number or looks for one types an ordinary blank
    return visible(text).replace("\u00a0", " ")


def _table(table: TableBlock, width: int) -> Iterator[str]:
    if not table.rows:
        yield from wrapped(f"{table.caption}: {table.empty}" if table.empty else table.caption, width)
        return
    yield from wrapped(table.caption, width)
    yield from _grid(table, width)
    for note in table.remarks():
        yield from wrapped(note, width, _INDENT)


def _grid(table: TableBlock, width: int) -> Iterator[str]:
    from rich.console import Console

    # what the environment says of the terminal is nothing to a text that may go into a file
    console = Console(width=width - len(_INDENT), color_system=None, force_terminal=False, _environ={})
    for blanks, broken in ((2, False), (2, True), (1, True)):
        grid = _layout(table, blanks, broken)
        if console.measure(grid, options=console.options.update_width(10 * width)).maximum <= console.width:
            break
    with console.capture() as captured:
        console.print(grid)
    for line in captured.get().splitlines():
        yield (_INDENT + line).rstrip()


def _layout(table: TableBlock, blanks: int, broken_heads: bool) -> Grid:
    """Return a table with so many blanks between its columns, and its heads one word a line if `broken_heads`."""
    from rich.box import Box
    from rich.table import Table as Grid
    from rich.text import Text

    rule = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
    grid = Grid(box=rule, show_edge=False, pad_edge=False, padding=(0, 0, 0, blanks - 1), header_style="")
    for place, column in enumerate(table.columns):
        justify: JustifyMethod = "left" if place == 0 or column.wide else "right"
        name = _plain(column.name)
        grid.add_column(
            Text(name.replace(" ", "\n") if broken_heads else name), justify=justify, vertical="bottom", overflow="fold"
        )
    for row in table.rows:
        cells = (_with_notes(cell, cell.under.replace(" · ", "; ")) for cell in (row.head, *row.cells))
        grid.add_row(*(Text(_plain(text)) for text in cells))
    return grid


def _with_notes(cell: Cell, under: str) -> str:
    """Return a cell's text with its small print and the paper's value behind it."""
    notes = [note for note in (under, f"paper {cell.paper}" if cell.paper else "") if note]
    return cell.text + (f" ({'; '.join(notes)})" if notes else "")


_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def section_markdown(section: Section) -> str:
    """Return a section with its heading; drawings are left to the page."""
    blocks = (_markdown(block) for block in section.blocks)
    return "\n\n".join([f"## {escaped(section.title)}", *(block for block in blocks if block)]) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Prose():
            marks = {"plain": "", "note": "> ", "warning": "> **Warning:** "}
            return marks[block.tone] + _parts(block.parts)
        case Bullets():
            return "\n".join(f"- {_parts(item)}" for item in block.items)
        case Heading():
            return f"### {escaped(block.text)}"
        case TableBlock():
            return _markdown_table(block)
        case Figure():
            return ""
        case Listing():
            return "\n".join(f"    {line}" for line in visible(block.text, lines=True).splitlines())
        case TermList():
            return "\n".join(f"- **{escaped(term)}**: {_parts(parts)}" for term, parts in block.items)


def _markdown_table(table: TableBlock) -> str:
    if not table.rows:
        return f"**{escaped(table.caption)}** {escaped(table.empty)}"
    aligned = (":---" if index == 0 or column.wide else "---:" for index, column in enumerate(table.columns))
    rows = [
        [escaped(column.name) for column in table.columns],
        aligned,
        *([escaped(_with_notes(cell, cell.under)) for cell in (row.head, *row.cells)] for row in table.rows),
    ]
    lines = (f"| {' | '.join(cells)} |" for cells in rows)
    remarks = "\n".join(f"- {escaped(remark)}" for remark in table.remarks())
    return f"**{escaped(table.caption)}**\n\n" + "\n".join(lines) + (f"\n\n{remarks}" if remarks else "")


def _parts(parts: Sequence[Part]) -> str:
    return "".join(_part(part) for part in parts)


def _part(part: Part) -> str:
    match part:
        case Strong():
            return f"**{escaped(part.text)}**"
        case LinkText():
            return escaped(part.text)
        case _:
            return escaped(part)


def escaped(text: str) -> str:
    """Return text without meaning for Markdown."""
    return _SPECIAL.sub(r"\\\1", visible(text).replace("&", "&amp;"))
