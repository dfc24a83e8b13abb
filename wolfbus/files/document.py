"""A document: sections of blocks, that is headings, paragraphs, tables, figures; written here as text for a terminal,
with aligned columns and wrapped paragraphs, and as Markdown. The report's page is written by `analytics.report`.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

from wolfbus.files.printable import visible

if TYPE_CHECKING:
    from rich.console import JustifyMethod
    from rich.table import Table as Grid


class Target(Protocol):
    """A place within the same document that a number leads to."""

    @property
    def anchor(self) -> str:
        """The id to go to."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a table.

    Attributes:
        text: the value, "–" where it is undefined.
        under: small print below it: interval, n.
        paper: what the paper published here, "" for nothing.
        link: the statements behind the value.
        reason: why it is undefined.
        lacking: why it has no interval, None where it has one or needs none.
    """

    text: str
    under: str = ""
    paper: str = ""
    link: Target | None = None
    reason: str | None = None
    lacking: str | None = None


@dataclass(frozen=True, slots=True)
class TableColumn:
    """Head of a column.

    Attributes:
        name: what stands above it.
        wide: whether it holds words rather than numbers.
    """

    name: str
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table.

    Attributes:
        head: what the line is of.
        cells: its values, one per column after the first.
        total: whether it sums up the others.
    """

    head: Cell
    cells: tuple[Cell, ...]
    total: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock:
    """A table with its caption.

    Attributes:
        key: unique on the page.
        caption: what it shows, in a sentence or two.
        columns: the first is that of the lines' heads.
        rows: the lines.
        notes: what to know when reading it.
        empty: what to say where there are no rows.
    """

    key: str
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    empty: str = "There is nothing to show."

    def remarks(self) -> list[str]:
        """Return the notes, and why values or intervals are missing, once each."""
        cells = [cell for row in self.rows for cell in row.cells]
        reasons = dict.fromkeys(cell.reason for cell in cells if cell.reason)
        lacking = dict.fromkeys(cell.lacking for cell in cells if cell.lacking)
        return [
            *self.notes,
            *(f"– undefined: {reason}." for reason in reasons),
            *(f"No interval: {reason}." for reason in lacking),
        ]


@dataclass(frozen=True, slots=True)
class LinkText:
    """A place to go: a selection of statements, or an anchor of the page."""

    text: str
    to: Target | str


@dataclass(frozen=True, slots=True)
class Strong:
    """Words that matter."""

    text: str


Part: TypeAlias = str | LinkText | Strong


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph; `tone` "warning" marks what must be known before the numbers are believed."""

    parts: tuple[Part, ...]
    tone: Literal["plain", "note", "warning"] = "plain"


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of paragraphs."""

    items: tuple[tuple[Part, ...], ...]


@dataclass(frozen=True, slots=True)
class Heading:
    """Title of a part of a section."""

    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A drawing.

    Attributes:
        key: unique on the page.
        draw: makes an SVG element of our own, "" where there is nothing to draw; called only where it is shown.
        caption: what it shows.
        empty: what to say where there is nothing to draw.
        table: key of the table on the page that holds its numbers, "" for none.
    """

    key: str
    draw: Callable[[], str]
    caption: str
    empty: str = "There is nothing to draw."
    table: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """Text as it stands, for machines: BibTeX, commands."""

    text: str


@dataclass(frozen=True, slots=True)
class TermList:
    """Definitions: term and what it means."""

    items: tuple[tuple[str, tuple[Part, ...]], ...]


Block: TypeAlias = Prose | Bullets | Heading | TableBlock | Figure | Listing | TermList


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page.

    Attributes:
        key: its anchor.
        title: its heading.
        blocks: what is in it.
    """

    key: str
    title: str
    blocks: tuple[Block, ...]


def plain(*parts: Part) -> Prose:
    """Return a paragraph."""
    return Prose(parts)


def note(*parts: Part) -> Prose:
    """Return a remark."""
    return Prose(parts, "note")


def warning(*parts: Part) -> Prose:
    """Return a warning."""
    return Prose(parts, "warning")


def columns(*names: str) -> tuple[TableColumn, ...]:
    """Return columns of numbers under a first one of words."""
    return tuple(TableColumn(name, wide=place == 0) for place, name in enumerate(names))


def as_values(block: Block) -> dict[str, Any]:
    """Return a paragraph, a table or a figure's caption as plain values, for a page that draws it itself; of other
    blocks nothing.

    A paragraph has ``tone`` and ``parts``, words or ``{"text", "strong"?, "to"?}``; a table ``caption``, ``columns``,
    ``rows`` and ``remarks``, and of a row's cells ``text``, ``under`` and ``to``; a figure ``caption`` and ``figure``,
    its key. ``to`` is an anchor of the report.
    """
    match block:
        case Prose():
            return {"tone": block.tone, "parts": [_part_values(part) for part in block.parts]}
        case TableBlock():
            rows = [[_cell_values(cell) for cell in (row.head, *row.cells)] for row in block.rows]
            names = [column.name for column in block.columns]
            return {"caption": block.caption, "columns": names, "rows": rows, "remarks": block.remarks()}
        case Figure():
            return {"caption": block.caption, "figure": block.key}
    return {}


def _part_values(part: Part) -> Any:
    match part:
        case Strong():
            return {"text": visible(part.text), "strong": True}
        case LinkText():
            return {"text": visible(part.text), "to": part.to if isinstance(part.to, str) else part.to.anchor}
    return visible(part)


def _cell_values(cell: Cell) -> dict[str, Any]:
    link = {} if cell.link is None else {"to": cell.link.anchor}
    return {"text": visible(cell.text), "under": visible(cell.under), **link}


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
