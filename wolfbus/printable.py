"""Words of a model, made safe to print: one line, visible characters only, of bounded length.

Statements, names and notes may come from any model, agent or edited record. A terminal would obey control sequences in
them, and direction marks or piles of accents could make one player's words look like another's.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from typing import Final

STATEMENT_SHOWN: Final = 600
"""Characters of a statement that line-by-line and live views show; pages show more."""

NAME_SHOWN: Final = 32
NOTE_SHOWN: Final = 160

_SEQUENCE: Final = re.compile(
    # an operating system command or another string, up to its terminator; then CSI; then any other escape
    r"(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_MARKS: Final = 2
"""Combining marks kept on one character; no living orthography needs many more."""
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0")


def spoken(text: str, limit: int = STATEMENT_SHOWN) -> str:
    """Return a statement fit to print, and words that say so where nothing of it can be."""
    return printable(text, limit) or "(nothing that can be printed)"


def storable(text: str) -> str:
    """Return `text` with "?" for lone surrogates, which no file or stream can hold; a text that was cut off within a
    character may end in one.
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def name_of(name: str | None) -> str:
    """Return a player's name fit to print; "nobody" for None."""
    return "nobody" if name is None else printable(name, NAME_SHOWN) or "?"


def in_plain_words(values: Mapping[str, object]) -> str:
    """Return an event or fact that nothing better is known to say of, from its values: "howl: round 2, seat Ada"."""
    parts = (f"{name} {value}" for name, value in values.items() if name != "type")
    return printable(f"{values['type']}: {', '.join(parts)}".replace("_", " "), NOTE_SHOWN)


def error_in_words(error: BaseException, limit: int = 300) -> str:
    """Return an error's type and text fit to print, as in "ValueError: no key"; its type alone where it has no text, or
    cannot say it.
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a user's error may fail in any way
        text = ""
    return printable(": ".join(filter(None, [type(error).__name__, text])), limit)


def counted(number: int, noun: str) -> str:
    """Return "1 vote", "2 votes"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def with_article(noun: str) -> str:
    """Return "a vote", "an answer"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def cut_middle(text: str, limit: int, mark: str = "…") -> str:
    """Return `text` with `mark` for its middle if it is longer than `limit`.

    That is for names of brains and models, which often differ at their ends only.
    """
    if len(text) <= limit:
        return text
    length = limit - len(mark)
    tail = length * 3 // 5
    return f"{text[: length - tail]}{mark}{text[len(text) - tail :]}"


def shortened(text: str, limit: int) -> str:
    """Return `text` fit to print, at most `limit` characters, its middle cut out if it is longer."""
    return cut_middle(printable(text, max(1, len(text))), limit)


def told_apart(names: Iterable[str], limit: int, shorten: Callable[[str, int], str] = shortened) -> dict[str, str]:
    """Return names as `shorten` makes them of `limit` characters; those that this makes equal are numbered in their
    order.
    """
    labels: dict[str, str] = {}
    used: set[str] = set()
    for name in dict.fromkeys(names):
        cut, number = shorten(name, limit), 1
        while cut in used:
            number += 1
            mark = f" #{number}"
            cut = shorten(name, limit - len(mark)) + mark
        used.add(cut)
        labels[name] = cut
    return labels


def printable(text: str, limit: int = STATEMENT_SHOWN) -> str:
    """Return `text` on one line, without escape sequences, control, direction and other invisible characters.

    Args:
        text: anything.
        limit: characters of the result at most; what is longer ends in "…".
    """
    window = text[: 8 * limit + 64]
    clean = _clean(window)
    if len(clean) <= limit and len(window) == len(text):
        return clean
    return clean[: limit - 1].rstrip() + "…"


@functools.lru_cache(maxsize=128)
def _clean(text: str) -> str:
    if not (text.isascii() and text.isprintable()):
        text = _visible(_SEQUENCE.sub("", text))
    return " ".join(text.split())


def _visible(text: str) -> str:
    characters: list[str] = []
    marks = 0
    for character in text:
        category = unicodedata.category(character)
        if category in {"Mn", "Me"}:
            marks += 1
            # variation selectors change how wide a character is drawn, and terminals disagree on it
            if marks <= _MARKS and not "\ufe00" <= character <= "\ufe0f" and character < "\U000e0100":
                characters.append(character)
            continue
        marks = 0
        if category in {"Zs", "Zl", "Zp"} or character in "\t\n\v\f\r\x85":
            characters.append(" ")
        elif category in {"Cs", "Co", "Cn"}:
            characters.append("\ufffd")
        elif "\U0001f1e6" <= character <= "\U0001f1ff":
            # two letters make a flag of a width that terminals disagree on
            characters.append(chr(ord("A") + ord(character) - 0x1F1E6))
        elif (
            category not in {"Cc", "Cf"} and character not in _FILLERS and not "\U0001f3fb" <= character <= "\U0001f3ff"
        ):
            characters.append(character)
    return "".join(characters)
