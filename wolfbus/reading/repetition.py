"""Texts in which a model has come to repeat itself, as small ones do until they are cut off."""

from __future__ import annotations

from collections import Counter
from typing import Final

from wolfbus.reading.text import has_quoted_key, object_extent

_WINDOW: Final = 8
"""Characters of the pieces by which a text is compared with itself: the same in every script."""

_SHORTEST: Final = 200
"""Characters at its end that must say nothing new."""

_SAID_BEFORE: Final = 2
"""Times that a piece was said already when it says nothing new: once is a quotation, or a form of words."""

_NEW: Final = 0.1
"""Share of those pieces that may be new all the same: a loop may vary a word."""

_LOOKED_AT: Final = 4_000
"""Characters before the end of a text beyond which it is not looked at."""


def repetition_start(text: str) -> int | None:
    """Return from where on a text says only what it has said twice; None where it goes on saying something.

    Of JSON that stops within a string only that string is looked at: objects of one form are alike.

    Args:
        text: what a model wrote, whole or cut off.

    Returns:
        An index into `text`, at least `_SHORTEST` before its end.
    """
    begin = max(_string_start(text), len(text) - _LOOKED_AT)
    times: Counter[str] = Counter()
    is_new = []
    for place in range(begin, len(text) - _WINDOW + 1):
        piece = text[place : place + _WINDOW]
        is_new.append(times[piece] < _SAID_BEFORE)
        times[piece] += 1
    new_behind = sum(is_new)
    for place, new in enumerate(is_new[: max(0, len(is_new) - _SHORTEST)]):
        if not new and new_behind <= _NEW * (len(is_new) - place):
            return begin + place
        new_behind -= new
    return None


def _string_start(text: str) -> int:
    """Return where the string of a JSON object began that is still open at the end; 0 where there is none."""
    start = text.find("{")
    if start < 0 or not has_quoted_key(text, start):
        return 0
    extent = object_extent(text, start)
    return extent.string + 1 if extent.string is not None else 0
