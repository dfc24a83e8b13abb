"""What is told, apart from how it is written down: a section is a heading and blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias


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
