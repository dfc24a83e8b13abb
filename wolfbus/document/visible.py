"""Words of strangers on a page: every hidden character is shown as a code, nothing is dropped.

`wolfbus.printable` drops them, for a line of a terminal has no room for codes.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

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
