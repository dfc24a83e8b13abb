"""Copies of the words with which a prompt describes what it asks for: no answers, and no thoughts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

_IN_BRACKETS: Final = re.compile(r"\s*<[^<>]*>\s*")
_WORD: Final = re.compile(r"\w+")
_FEWEST: Final = 3
"""Words in which a copy is told from words that somebody may say."""

_LONGEST: Final = 200
"""Characters of a copy; descriptions are short."""


def is_placeholder(text: str, descriptions: Iterable[str] = ()) -> bool:
    """Return whether a text stands for words that are still to be found.

    Args:
        text: where a model was to write words of its own.
        descriptions: words by which the prompt described them; three or more in a row are a copy.
    """
    if _IN_BRACKETS.fullmatch(text):
        return True
    words = _words(text) if len(text) <= _LONGEST else ""
    return words.count(" ") > _FEWEST and any(words in _words(description) for description in descriptions)


@lru_cache(maxsize=64)
def _words(text: str) -> str:
    """Return the words of a text with a blank around each."""
    return f" {' '.join(word.casefold() for word in _WORD.findall(text))} "
