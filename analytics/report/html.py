"""HTML, element by element. Whatever is put in is escaped; only `Markup` made here or by `markupsafe` is taken as it
stands.

Names and words come from any model, agent, file name or edited record, so that no caller decides what is safe.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape

VOID: Final = frozenset({"meta", "br", "input", "hr"})


def tag(name: str, /, *children: object, **attributes: str | int | bool | None) -> Markup:
    """Return an element with its children escaped.

    Args:
        name: of the element; ours, and not escaped.
        children: text, numbers or `Markup`; None adds nothing.
        attributes: a trailing "_" is dropped and "_" stands for "-"; None and False leave the attribute out, True gives
            it without a value. Their names are ours, too.
    """
    # one string is put together at a time: adding up Markup escapes and copies at every step
    opening = f"<{name}"
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        opening += " " + key.rstrip("_").replace("_", "-")
        if value is not True:
            opening += f'="{escape(value)}"'
    if name in VOID:
        return _safe(f"{opening}>")
    return _safe(f"{opening}>{_run(children)}</{name}>")


def joined(parts: Iterable[object], between: str = "") -> Markup:
    """Return parts one after the other, each escaped unless it is `Markup`."""
    return _safe(_run(parts, between))


def _run(parts: Iterable[object], between: str = "") -> str:
    return str(escape(between)).join([escape(part) for part in parts if part is not None])


def _safe(made: str) -> Markup:
    # only of parts that are escaped, or ours
    return Markup(made)  # noqa: S704
