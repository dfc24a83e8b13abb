"""Words of strangers, made safe to show: on one line of a terminal (`printable`), on a page or in a file (`visible`).

Statements, names and notes may come from any model, agent or edited record. A terminal would obey control sequences in
them, and direction marks or piles of accents could make one player's words look like another's. What a model is shown
of others' words is in `players.llm.prompts.quoting`, whose tables must never change.
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
"""Combining marks kept on one character: no living orthography needs many more, and they would climb over the lines
above."""
_JOINER: Final = "\u200d"
_BLANK: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
"""Letters that are drawn as nothing."""
_NO_WIDTH: Final = re.compile("[\u115f\u1160\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U0010ffff\U0001f3fb-\U0001f3ff]")
"""Characters that are drawn as nothing, or change how wide the one before is drawn, on which terminals disagree."""
_LINE_PARTS: Final = re.compile(r"([\n\t])")
_PLAIN: Final = re.compile(
    "[ -~\u00a0-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u048a-\u052f\u2010-\u2027\u2030-\u205e"
    "\u3041-\u3096\u309d-\u30ff\u4e00-\u9fef\uac00-\ud7a3]*"
)
"""Characters of the commonest scripts that neither hide nor climb: most texts need no second look."""


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
    """Return an event or fact of which nothing better is known to say, from its values: "howl: round 2, seat Ada"; of
    fields alone, without a type, "round 2, seat Ada".
    """
    parts = ", ".join(f"{name} {value}" for name, value in values.items() if name != "type")
    head = f"{values['type']}: " if "type" in values else ""
    return printable(f"{head}{parts}".replace("_", " "), NOTE_SHOWN)


def error_in_words(error: BaseException, limit: int = 300) -> str:
    """Return an error's type and text fit to print, as in "ValueError: no key"; its type alone where it has no text, or
    cannot say it.
    """
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a user's error may fail in any way
        text = ""
    return printable(": ".join(filter(None, [type(error).__name__, text])), limit)


def columns_of(text: str) -> int:
    """Return how many columns of a terminal printable text takes: two for a letter of double width, none for a mark
    that goes with the letter before.
    """
    return sum(
        2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter) for letter in text
    )


def in_columns(text: str, width: int, *, right: bool = False) -> str:
    """Return printable text cut to at most so many columns, with blanks behind it, or before it, to fill them."""
    while columns_of(text) > width:
        text = text[:-1]
    blanks = " " * (width - columns_of(text))
    return blanks + text if right else text + blanks


def counted(number: int, noun: str, nouns: str | None = None) -> str:
    """Return "1 vote", "1,000 votes", "2 people"."""
    return f"{number:,} {noun if number == 1 else nouns or noun + 's'}"


def with_article(noun: str) -> str:
    """Return "a vote", "an answer"."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def cut_middle(text: str, limit: int) -> str:
    """Return `text` with … for its middle if it is longer than `limit`.

    That is for names of brains and models, which often differ at their ends only.
    """
    if len(text) <= limit:
        return text
    length = limit - 1
    tail = length * 3 // 5
    return f"{text[: length - tail]}…{text[len(text) - tail :]}"


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
    return " ".join(_made_safe(_SEQUENCE.sub("", text), _in_a_terminal).split())


def visible(text: str, *, lines: bool = False) -> str:
    """Return `text` with a printed code, such as [U+202E], for every character that hides or turns others around.

    These are control, format and direction characters, lone surrogates, private and unassigned ones. Joiners inside
    emoji stay, and so do two combining marks on a character. Pages and files show words like this; what stands around
    them is markup, so nothing need be left out.

    Args:
        text: anything.
        lines: keep line breaks and tabs, for text that is shown in lines.
    """
    if not lines:
        return _made_safe(text, _on_a_page)
    return "".join(part if part in {"\n", "\t"} else _made_safe(part, _on_a_page) for part in _LINE_PARTS.split(text))


def words(text: str, limit: int, *, lines: bool = False) -> str:
    """Return at most `limit` characters of `text`, all visible, and how many are left out."""
    return visible(cut(text, limit), lines=lines)


def cut(text: str, limit: int) -> str:
    """Return at most `limit` characters of `text` as they are, and how many are left out."""
    left = len(text) - limit
    return text if left <= 0 else f"{text[:limit]}… ({left:,} more characters in the record)"


def _made_safe(text: str, show: Callable[[str, str, str], str]) -> str:
    """Return `text` as `show` makes it, given each character, its category and the character before it.

    Of combining marks in a row no more than `_MARKS` are shown at all.
    """
    if _PLAIN.fullmatch(text):
        return text
    pieces: list[str] = []
    marks = 0
    before = ""
    for character in text:
        category = unicodedata.category(character)
        marks = marks + 1 if category in {"Mn", "Me"} else 0
        if marks <= _MARKS:
            pieces.append(show(character, category, before))
        before = character
    return "".join(pieces)


def _in_a_terminal(character: str, category: str, before: str) -> str:  # noqa: ARG001
    if category in {"Zs", "Zl", "Zp"} or character in "\t\n\v\f\r\x85":
        return " "
    if category in {"Cs", "Co", "Cn"}:
        return "\ufffd"
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        # two letters make a flag of a width that terminals disagree on
        return chr(ord("A") + ord(character) - 0x1F1E6)
    return "" if category in {"Cc", "Cf"} or _NO_WIDTH.match(character) else character


def _on_a_page(character: str, category: str, before: str) -> str:
    if character == _JOINER and before and unicodedata.category(before) in {"So", "Sk", "Mn"}:
        return character
    if category in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} or character in _BLANK:
        return f"[U+{ord(character):04X}]"
    return character
