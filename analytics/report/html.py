"""HTML, element by element. Whatever is put in is escaped; only `Markup` made here or by `markupsafe` is taken as it
stands.

Names and words come from any model, agent, file name or edited record, so that no caller decides what is safe.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from markupsafe import Markup, escape

VOID: Final = frozenset({"meta", "br", "input", "hr"})
_MARKS: Final = 2
"""Combining marks kept on one character; more would climb over the lines above."""
_JOINER: Final = "\u200d"
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_PLAIN: Final = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e"
    "\u3041-\u3096\u309d-\u30ff\u4e00-\u9fef\uac00-\ud7a3]*"
)
"""Characters of the commonest scripts that neither hide nor climb: most texts need no second look."""
_PLAIN_LINES: Final = re.compile(f"(?:{_PLAIN.pattern[:-1]}|[\n\t])*")


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


def visible(text: str, *, lines: bool = False) -> str:
    """Return `text` with a printed code, such as [U+202E], for every character that hides or turns others around.

    These are control, format and direction characters, lone surrogates, private and unassigned ones. Joiners inside
    emoji stay, and so do two combining marks on a character.

    Args:
        text: anything.
        lines: keep line breaks and tabs, for text that is shown in lines.
    """
    if (_PLAIN_LINES if lines else _PLAIN).fullmatch(text):
        return text
    kept: list[str] = []
    marks = 0
    for at, character in enumerate(text):
        category = unicodedata.category(character)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks > _MARKS:
            continue
        if (lines and character in "\n\t") or (
            character == _JOINER and at and unicodedata.category(text[at - 1]) in {"So", "Sk", "Mn"}
        ):
            kept.append(character)
        elif category in _HIDDEN or character in _FILLERS:
            kept.append(f"[U+{ord(character):04X}]")
        else:
            kept.append(character)
    return "".join(kept)


def words(text: str, limit: int, *, lines: bool = False) -> str:
    """Return at most `limit` characters of `text`, all visible, and how many are left out."""
    shown = visible(text[:limit], lines=lines)
    left = len(text) - limit
    return shown if left <= 0 else f"{shown}… ({left:,} more characters in the record)"
