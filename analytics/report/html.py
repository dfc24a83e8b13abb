"""The writer of HTML: templates, in which whatever is put in is escaped and every hidden character of it visible.

Names and words come from any model, agent, file name or edited record, so that no template decides what is safe: only
what a template made, our own drawings, style and script are taken as they stand.
"""

from __future__ import annotations

import functools
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from wolfbus.document.blocks import Block, Figure, Section
from wolfbus.document.visible import visible, words

_LONG: Final = 18
_ROWS: Final = 12
"""Lines of a table that is shown where it stands; longer ones are folded."""


def section_html(section: Section) -> Markup:
    """Return a section with its heading."""
    made: Markup = templates().get_template("blocks.html").module.section(section)  # type: ignore[attr-defined]
    return made


@functools.cache
def templates() -> Environment:
    """Return the report's templates."""
    made = Environment(
        loader=PackageLoader("analytics.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_seen,
    )
    made.globals["LONG"] = _ROWS
    made.filters |= {"breadth": _breadth, "drawn": _drawn, "kind": _kind, "lines": _lines, "words": _words}
    return made


def _seen(value: Any) -> Any:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _kind(block: Block) -> str:
    return type(block).__name__


def _lines(text: str) -> Markup:
    return escape(visible(text, lines=True))


def _words(text: str, limit: int, *, lines: bool = False) -> Markup:
    return escape(words(text, limit, lines=lines))


def _drawn(figure: Figure) -> Markup:
    # drawn by our own code from the findings, every name in it escaped there
    return Markup(figure.draw())  # noqa: S704


def _breadth(text: str) -> str:
    """Return how a line's head is to be broken: within words only where one would push the numbers off the window."""
    if any(len(word) > _LONG for word in text.split()):
        return "long"
    return "wordy" if len(text) > _LONG else ""
