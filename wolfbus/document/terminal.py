"""Blocks as text for a terminal: aligned columns and wrapped paragraphs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from wolfbus.document.blocks import (
    Block,
    Bullets,
    Cell,
    Figure,
    Heading,
    Listing,
    Part,
    Prose,
    TableBlock,
    TermList,
)
from wolfbus.document.visible import visible

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
        grid = _laid_out(table, blanks, broken)
        if console.measure(grid, options=console.options.update_width(10 * width)).maximum <= console.width:
            break
    with console.capture() as captured:
        console.print(grid)
    for line in captured.get().splitlines():
        yield (_INDENT + line).rstrip()


def _laid_out(table: TableBlock, blanks: int, broken: bool) -> Grid:
    """Return a table with so many blanks between its columns, and its heads one word a line where they are broken."""
    from rich.box import Box
    from rich.table import Table as Grid
    from rich.text import Text

    rule = Box("    \n    \n ── \n    \n    \n    \n    \n    \n")
    grid = Grid(box=rule, show_edge=False, pad_edge=False, padding=(0, 0, 0, blanks - 1), header_style="")
    for place, column in enumerate(table.columns):
        justify: JustifyMethod = "left" if place == 0 or column.wide else "right"
        name = _plain(column.name)
        grid.add_column(
            Text(name.replace(" ", "\n") if broken else name), justify=justify, vertical="bottom", overflow="fold"
        )
    for row in table.rows:
        grid.add_row(*(Text(_cell(cell)) for cell in (row.head, *row.cells)))
    return grid


def _cell(cell: Cell) -> str:
    more = [part for part in (cell.under.replace(" · ", "; "), f"paper {cell.paper}" if cell.paper else "") if part]
    return _plain(cell.text + (f" ({'; '.join(more)})" if more else ""))
