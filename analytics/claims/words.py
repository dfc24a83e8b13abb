"""A statement's text made ready for patterns: names as single marks, plain letters, quotations cut out, sentences.

Everything here takes time in proportion to the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from wolfbus.marks import marked
from wolfbus.messages.base import SeatName

LONGEST: Final = 6_000
"""Characters of a statement that are read."""
_CUT: Final = "\ufffc"
"""Stands where a quotation was."""
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b\u02bc\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2013\u2014\u2015", "\u2014"),
        **dict.fromkeys("*_~#", None),
        "\u2026": ".",
        "\u00a0": " ",
    }
)
_DOUBLE_QUOTED = re.compile(r'"[^"]*(?:"|\Z)')
_SINGLE_QUOTED = re.compile(r"(?<!\w)'(?!(?:cause|em|til|twas|tis)\b)(?=\w)(?:[^']|'(?=\w))*(?:'|\Z)")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_SPACES = re.compile(r"[ \t\r\f\v]+")


def sentences(text: str, names: tuple[SeatName, ...]) -> Iterator[str | None]:
    """Yield the sentences of `text` in lower case, the player at place n of `names` as the nth mark.

    None stands for a sentence that says nothing on its speaker's own account: a question, or one with a quotation.
    """
    words = marked(text[:LONGEST].replace(_CUT, ""), names).translate(_PLAIN).lower().strip()
    if words[:1] == '"' and words.find('"', 1) == len(words) - 1:
        words = words[1:-1]
    if '"' in words:
        words = _DOUBLE_QUOTED.sub(_CUT, words)
    if "'" in words:
        words = _SINGLE_QUOTED.sub(_CUT, words)
    for found in _SENTENCE.finditer(words):
        sentence = _SPACES.sub(" ", found[0]).strip()
        if sentence:
            yield None if "?" in sentence or _CUT in sentence else sentence
