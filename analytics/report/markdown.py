"""Blocks as Markdown: the same tables for a repository or a paper's supplement."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

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
from wolfbus.document.visible import visible

_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]<>#|~!])")


def section_markdown(section: Section) -> str:
    """Return a section with its heading; drawings are left to the page."""
    blocks = (_block(block) for block in section.blocks)
    return "\n\n".join([f"## {escaped(section.title)}", *(block for block in blocks if block)]) + "\n"


def _block(block: Block) -> str:
    match block:
        case Prose():
            marks = {"plain": "", "note": "> ", "warning": "> **Warning:** "}
            return marks[block.tone] + _parts(block.parts)
        case Bullets():
            return "\n".join(f"- {_parts(item)}" for item in block.items)
        case Heading():
            return f"### {escaped(block.text)}"
        case TableBlock():
            return _table(block)
        case Figure():
            return ""
        case Listing():
            return "\n".join(f"    {line}" for line in visible(block.text, lines=True).splitlines())
        case TermList():
            return "\n".join(f"- **{escaped(term)}**: {_parts(parts)}" for term, parts in block.items)


def _table(table: TableBlock) -> str:
    if not table.rows:
        return f"**{escaped(table.caption)}** {escaped(table.empty)}"
    lines = [
        "| " + " | ".join(escaped(column.name) for column in table.columns) + " |",
        "|" + "|".join(" :--- " if place == 0 or each.wide else " ---: " for place, each in enumerate(table.columns))
        + "|",
    ]  # fmt: skip
    lines += ["| " + " | ".join(_cell(cell) for cell in (row.head, *row.cells)) + " |" for row in table.rows]
    told = "\n".join(f"- {escaped(each)}" for each in table.remarks())
    return f"**{escaped(table.caption)}**\n\n" + "\n".join(lines) + (f"\n\n{told}" if told else "")


def _cell(cell: Cell) -> str:
    more = [part for part in (cell.under, f"paper {cell.paper}" if cell.paper else "") if part]
    return escaped(cell.text + (f" ({'; '.join(more)})" if more else ""))


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
