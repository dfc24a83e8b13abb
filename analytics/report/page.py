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
from analytics.report.html import joined, tag
from analytics.report.index import Index
from analytics.report.links import INDEX, Selection
from analytics.report.markup import section_markup
from wolfbus.document.blocks import Block, Link, Part, Section, Table
from wolfbus.document.visible import visible

REFUSED: Final = "default-src 'none'; base-uri 'none'; form-action 'none'"
"""What the page forbids itself, besides every script and style that is not its own."""
_LEAD: Final = (
    "WOLF measures deception among language models: every statement of a game of Werewolf is labelled by its speaker "
    "and judged by everybody else. In each cell stand the value, its 95 % interval and n below it, and "
)


def page(title: str, sections: Sequence[Section], index: Index, context: Context, *, before: str = "cite") -> str:
    """Return the whole document.

    Args:
        title: of the page.
        sections: what it says, in order.
        index: the statements.
        context: what the page is about.
        before: key of the section that the index comes before.
    """
    style, script = css() + _own("page.css"), _own("page.js")
    policy = f"{REFUSED}; style-src {_hash(style)}; script-src {_hash(script)}"
    statements = index.markup(context, selections_of(sections))
    parts, entries = [], []
    for section in sections:
        if section.key == before:
            parts.append(statements)
            entries.append((INDEX, "Index of statements"))
        parts.append(section_markup(section))
        entries.append((section.key, section.title))
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=f"wolfbus {context.version}"),
        tag("title", visible(title)),
        # both are files of this package
        tag("style", Markup(style)),  # noqa: S704
    )
    body = tag(
        "body",
        tag("a", "Skip to the report", href="#main", class_="skip"),
        tag(
            "nav",
            tag("ul", *(tag("li", tag("a", name, href=f"#{key}")) for key, name in entries)),
            aria_label="Contents",
        ),
        tag("header", tag("h1", tag("bdi", visible(title))), tag("p", _lead())),
        tag("main", *parts, id="main", tabindex=-1),
        tag("footer", tag("p", f"Made by wolfbus {context.version} from the records alone; no number was typed in.")),
        tag("script", Markup(script)),  # noqa: S704 - see style
    )
    document = Markup("<!doctype html>\n") + tag("html", head, body, lang="en-GB") + Markup("\n")
    # a lone surrogate cannot be stored, and none should have come so far
    return str(document).encode("utf-8", "replace").decode()


def _lead() -> Markup:
    return joined(
        [
            _LEAD,
            tag("em", "paper"),
            " for what the paper published. Numbers that are underlined lead to ",
            tag("a", "the statements behind them", href=f"#{INDEX}"),
            ".",
        ]
    )


def selections_of(sections: Iterable[Section]) -> Iterator[Selection]:
    """Yield what the numbers of these sections link to."""
    for section in sections:
        for block in section.blocks:
            yield from _linked(block)


def _linked(block: Block) -> Iterator[Selection]:
    if isinstance(block, Table):
        for row in block.rows:
            yield from (cell.link for cell in (row.head, *row.cells) if isinstance(cell.link, Selection))
        return
    for part in _parts(block):
        if isinstance(part, Link) and isinstance(part.to, Selection):
            yield part.to


def _parts(block: Block) -> Iterator[Part]:
    for held in (getattr(block, "items", ()), (getattr(block, "parts", ()),)):
        for item in held:
            yield from item[1] if item and isinstance(item[-1], tuple) else item


def _own(name: str) -> str:
    return files("analytics.report").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
