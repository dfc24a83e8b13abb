"""The page: one HTML file that needs nothing else, and lets nothing else in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from importlib.resources import files
from typing import Final

from markupsafe import Markup

from analytics.figures import css
from analytics.report.context import Context
from analytics.report.html import templates
from analytics.report.index import Index
from analytics.report.links import INDEX, Selection
from wolfbus.document.blocks import Block, LinkText, Part, Section, TableBlock

REFUSED: Final = "default-src 'none'; base-uri 'none'; form-action 'none'"
"""What the page forbids itself, besides every script and style that is not its own."""


def page(
    title: str, sections: Sequence[Section], context: Context, index: Index | None = None, *, before: str = "cite"
) -> str:
    """Return the whole document.

    Args:
        title: of the page.
        sections: what it says, in order; the first is shown, the others are folded.
        context: what the page is about.
        index: the statements, None for a page without any.
        before: key of the section that the index comes before.
    """
    style, script = css() + _own("page.css"), _own("page.js")
    document = (
        templates()
        .get_template("page.html")
        .render(
            title=title,
            sections=sections,
            before=before,
            index_key=INDEX,
            index="" if index is None else index.markup(context, selections_of(sections)),
            version=context.version,
            policy=f"{REFUSED}; style-src {_hash(style)}; script-src {_hash(script)}",
            # both are files of this package
            style=Markup(style),  # noqa: S704
            script=Markup(script),  # noqa: S704
        )
    )
    # a lone surrogate cannot be stored, and none should have come so far
    return document.encode("utf-8", "replace").decode()


def selections_of(sections: Iterable[Section]) -> Iterator[Selection]:
    """Yield what the numbers of these sections link to."""
    for section in sections:
        for block in section.blocks:
            yield from _linked(block)


def _linked(block: Block) -> Iterator[Selection]:
    if isinstance(block, TableBlock):
        for row in block.rows:
            yield from (cell.link for cell in (row.head, *row.cells) if isinstance(cell.link, Selection))
        return
    for part in _parts(block):
        if isinstance(part, LinkText) and isinstance(part.to, Selection):
            yield part.to


def _parts(block: Block) -> Iterator[Part]:
    for held in (getattr(block, "items", ()), (getattr(block, "parts", ()),)):
        for item in held:
            yield from item[1] if item and isinstance(item[-1], tuple) else item


def _own(name: str) -> str:
    return files("analytics.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
