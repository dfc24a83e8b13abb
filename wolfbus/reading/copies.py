"""Words that a model took from its prompt: no answer where they only describe what was asked for, and no statement in
words of its own where all of them, or nearly all, stand there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"')
_IN_BRACKETS: Final = re.compile(r"\s*<[^<>]*>\s*")
_WORD: Final = re.compile(r"\w+")
_SENTENCE_END: Final = re.compile(r"[.!?…\n]+")
_FEWEST: Final = 3
"""Words in which a copy of a description is told from words that somebody may say."""

_LONGEST: Final = 200
"""Characters of such a copy; descriptions are short."""

FEWEST_COPIED: Final = 8
"""Words in all from which on a statement whose sentences all stand in its prompt counts as copied; fewer ("I vote for
Raj") may be said by two players who have not heard each other."""

_RUN: Final = 6
"""Words in a row that somebody who reads the rules has from there: "the floor in turn 2 of …"."""

_SHARE: Final = 0.8
"""Of a statement's words, in such runs, from which on it says again what it was told."""


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


def is_copied(text: str, prompt: str) -> bool:
    """Return whether a statement of at least `FEWEST_COPIED` words says nothing that does not stand in its prompt,
    whatever its punctuation and case.

    Each of its sentences stands there word for word; or four in five of its words stand, in runs of six, in the
    prompt's own words, which are all that no player has said.

    Args:
        text: the statement.
        prompt: all that the model was sent; what players said, the model itself included, stands in quotation marks.
    """
    words = _words(text).split()
    if len(words) < FEWEST_COPIED:
        return False
    if is_verbatim(text, prompt):
        return True
    own_words = {run for _, run in _runs(_words(_QUOTED.sub(" ", prompt)).split())}
    in_runs = {place for begin, run in _runs(words) if run in own_words for place in range(begin, begin + _RUN)}
    return len(in_runs) >= _SHARE * len(words)


def _runs(words: Sequence[str]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield every `_RUN` words in a row, each with where it begins."""
    return enumerate(zip(*(words[begin:] for begin in range(_RUN)), strict=False))


def is_verbatim(text: str, prompt: str) -> bool:
    """Return whether a statement of at least `FEWEST_COPIED` words has no sentence that does not stand in its prompt,
    word for word; see `is_copied`.
    """
    prompt_words = _words(prompt)
    sentences = (sentence for sentence in _SENTENCE_END.split(text) if _WORD.search(sentence))
    return len(_WORD.findall(text)) >= FEWEST_COPIED and all(_words(sentence) in prompt_words for sentence in sentences)


@lru_cache(maxsize=64)
def _words(text: str) -> str:
    """Return the words of a text with a blank around each."""
    return f" {' '.join(word.casefold() for word in _WORD.findall(text))} "
