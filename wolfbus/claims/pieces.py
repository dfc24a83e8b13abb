"""Long texts are read in pieces of whole sentences: the time that one takes grows with its length and no faster."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

SENTENCE_END: Final = re.compile(r"(?<=[.!?;])\s+|\n+")
"""What parts sentences."""
_LONGEST: Final = 6_000


def pieces_of(text: str) -> Iterator[str]:
    """Yield a text in pieces of at most 6,000 characters, which end where a sentence does, else between words, else
    anywhere. What is in one piece is not looked at in the light of another.
    """
    start = 0
    while len(text) - start > _LONGEST:
        window = text[start : start + _LONGEST]
        end = max((match.end() for match in SENTENCE_END.finditer(window)), default=0) or window.rfind(" ") + 1
        yield window[: end or _LONGEST]
        start += end or _LONGEST
    yield text[start:]
