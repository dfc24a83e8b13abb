"""Names in a text swapped for single marks, so that no pattern over the text trips over what a name is made of."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from wolfbus.messages.base import SeatName

FIRST_MARK: Final = 0xE000
"""The mark of the first name; marks are private-use characters from here on."""
LAST_MARK: Final = 0xE1FF
"""The last mark: there is room for 16 names, the most of a game, each spelt in 32 ways."""
MARKS: Final = f"{chr(FIRST_MARK)}-{chr(LAST_MARK)}"
"""All marks, for a character class."""
MARK: Final = f"[{MARKS}]"
"""Matches a name that was swapped."""

_PRIVATE = re.compile("[\ue000-\uf8ff]")
_WORD = re.compile(r"([^\W_]+)")


@lru_cache(maxsize=512)
def _name_pattern(names: tuple[SeatName, ...]) -> re.Pattern[str] | None:
    """Return a pattern that finds any of these names as a whole word; case counts, for "Hope" is not "hope".

    None where every name is one word, as most are: looking words up finds the same, and compiling takes longer than
    reading a game's statements.
    """
    if all(map(str.isalnum, names)):
        return None
    longest_first = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(r"(?<![^\W_])(?:" + "|".join(re.escape(name) for name in longest_first) + r")(?![^\W_])")


def marked(text: str, names: tuple[SeatName, ...]) -> str:
    """Return `text` with the player at place n of `names` as the nth mark, and without marks that it held before."""
    words = _PRIVATE.sub("", text)
    if not names:
        return words
    marks, pattern = marks_of(names), _name_pattern(names)
    if pattern is not None:
        return pattern.sub(lambda match: marks[match[0]], words)
    parts = _WORD.split(words)
    parts[1::2] = [marks.get(word, word) for word in parts[1::2]]
    return "".join(parts)


@lru_cache(maxsize=512)
def marks_of(names: tuple[SeatName, ...]) -> dict[SeatName, str]:
    """Return the mark of each name."""
    return {name: chr(FIRST_MARK + place) for place, name in enumerate(names)}


def without_marks(words: str) -> str:
    """Return `words` with an underscore for each mark, to notice repetition whoever it is about."""
    return _PRIVATE.sub("_", words)


def marks_in(words: str) -> list[str]:
    """Return the marks in `words`, in order."""
    return _PRIVATE.findall(words)
