"""Blocks as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

from analytics.report.html import joined, tag
from wolfbus.document.blocks import (
    Block,
    Bullets,
    Cell,
    Figure,
    Heading,
    Link,
    Listing,
    Part,
    Prose,
    Section,
    Strong,
    Table,
    Terms,
)
from wolfbus.document.visible import visible

_LONG: Final = 18
_SMALL: Final = 28
"""Characters of small print up to which it is kept in one line: an interval."""


def section_markup(section: Section) -> Markup:
    """Return a section with its heading."""
    title = tag("h2", visible(section.title), id=f"{section.key}-title")
    blocks = (block_markup(block) for block in section.blocks)
    return tag("section", title, *blocks, id=section.key, aria_labelledby=f"{section.key}-title")


def block_markup(block: Block) -> Markup:
    """Return one block."""
    match block:
        case Prose():
            return tag("p", _parts(block.parts), class_=None if block.tone == "plain" else block.tone)
        case Bullets():
            return tag("ul", *(tag("li", _parts(item)) for item in block.items))
        case Heading():
            return tag("h3", visible(block.text), id=block.key)
        case Table():
            return _table(block)
        case Figure():
            return _figure(block)
        case Listing():
            return tag("pre", tag("code", visible(block.text, lines=True)), tabindex=0)
        case Terms():
            return tag("dl", *(tag("dt", visible(term)) + tag("dd", _parts(parts)) for term, parts in block.items))


def _parts(parts: Sequence[Part]) -> Markup:
    return joined(_part(part) for part in parts)


def _part(part: Part) -> Markup:
    match part:
        case Link():
            anchor = part.to if isinstance(part.to, str) else part.to.anchor
            return tag("a", tag("bdi", visible(part.text)), href=f"#{anchor}")
        case Strong():
            return tag("strong", visible(part.text))
        case _:
            return joined([visible(part)])


def _table(table: Table) -> Markup:
    """Return a table in a frame of its own, which scrolls where the page is narrow, by keyboard too."""
    # the words keep to the window, however wide the table is
    caption = tag("caption", tag("span", visible(table.caption)), id=f"{table.key}-caption")
    if not table.rows:
        return tag("p", tag("strong", visible(table.caption)), " ", visible(table.empty), class_="note", id=table.key)
    head = tag(
        "thead",
        tag(
            "tr",
            *(
                tag("th", visible(column.name), scope="col", class_="words" if column.wide else None)
                for column in table.columns
            ),
        ),
    )
    body = []
    for row in table.rows:
        first = tag("th", _cell(row.head), scope="row", class_=_breadth(row.head.text))
        rest = (
            tag("td", _cell(cell), class_="words" if column.wide else None)
            for column, cell in zip(table.columns[1:], row.cells, strict=True)
        )
        body.append(tag("tr", first, *rest, class_="total" if row.total else None))
    grid = tag("table", caption, head, tag("tbody", *body))
    frame = tag("div", grid, class_="frame", role="region", aria_labelledby=f"{table.key}-caption", tabindex=0)
    return tag("div", frame, _notes(table), _contradictions(table), class_="table", id=table.key)


def _breadth(text: str) -> str | None:
    """Return how a line's head is to be broken: within words only where one would push the numbers off the window."""
    if any(len(word) > _LONG for word in text.split()):
        return "long"
    return "wordy" if len(text) > _LONG else None


def _notes(table: Table) -> Markup | None:
    notes = [visible(note) for note in table.remarks()]
    return tag("ul", *(tag("li", note) for note in notes), class_="notes") if notes else None


def _contradictions(table: Table) -> Markup | None:
    if not table.contradictions:
        return None
    items = (tag("li", visible(told)) for told in table.contradictions)
    return tag("div", tag("p", "Where the paper contradicts itself"), tag("ul", *items), class_="contradictions")


def _cell(cell: Cell) -> Markup:
    shown: object = tag("bdi", visible(cell.text))
    if cell.reason is not None:
        spoken = f"undefined: {cell.reason}" if cell.reason else "undefined"
        shown = tag("span", "–", aria_hidden="true") + tag("span", visible(spoken), class_="spoken")
    if cell.link is not None:
        shown = tag("a", shown, href=f"#{cell.link.anchor}")
    return joined(
        [
            shown,
            tag("small", joined((_print(part) for part in cell.under.split(" · ")), " ")) if cell.under else None,
            tag("small", "paper ", visible(cell.paper), class_="paper") if cell.paper else None,
        ]
    )


def _print(part: str) -> Markup:
    """Return a piece of small print: numbers stay in one line, words may break."""
    return tag("span", visible(part), class_="words" if len(part) > _SMALL else None)


def _figure(figure: Figure) -> Markup:
    svg = figure.draw()
    if not svg:
        return tag("p", tag("strong", visible(figure.caption)), " ", visible(figure.empty), class_="note")
    # drawn by our own code from the findings, every name in it escaped there
    own = Markup(svg)  # noqa: S704
    drawing = tag("div", own, class_="wb-scroll", role="region", aria_labelledby=f"{figure.key}-caption", tabindex=0)
    return tag("figure", drawing, tag("figcaption", visible(figure.caption), id=f"{figure.key}-caption"), id=figure.key)
