"""What a private thought gives away by its words alone, and texts with the names of roles masked.

`lexical_score` is the floor that a monitor has to beat which reads thoughts: patterns of ``thoughts.toml``, in which
the speaker's own side is named or the intent to deceive is stated.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from wolfbus.files.package_data import Lines, PackageData, Prose, read_data
from wolfbus.game.roles import FACTS, ROLE_WORDS

MASK: Final = "[role]"
"""Stands in the place of a role's name."""


class _Lexicon(PackageData):
    version: int
    wolf: str
    i: str
    feint: Prose
    role: Lines
    intent: Lines


@cache
def _lexicon() -> _Lexicon:
    return read_data("wolfbus.knowledge", "thoughts", _Lexicon)


@cache
def _patterns() -> tuple[re.Pattern[str], ...]:
    lexicon = _lexicon()
    # the file folds its long pattern over several lines, before whose alternatives no blank counts
    words = {"{wolf}": lexicon.wolf, "{i}": lexicon.i, "{feint}": lexicon.feint.replace(" |", "|")}
    patterns = []
    for pattern in (*lexicon.role, *lexicon.intent):
        for mark, word in words.items():
            pattern = pattern.replace(mark, word)  # noqa: PLW2901 - the pattern with its words
        patterns.append(re.compile(pattern, re.IGNORECASE))
    return tuple(patterns)


@cache
def _role_names() -> re.Pattern[str]:
    names = {*ROLE_WORDS, *(facts.plural.casefold() for facts in FACTS.values()), "wolves", "were-wolf", "were-wolves"}
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(longest_first)})s?(?!\w)", re.IGNORECASE)


def lexical_score(thought: str) -> int:
    """Return how many patterns of the lexicon a private thought matches, at least 0."""
    straight = thought.replace("’", "'")
    return sum(pattern.search(straight) is not None for pattern in _patterns())


def without_role_names(text: str) -> str:
    """Return a text in which `MASK` stands for every name of a role, in the singular or plural."""
    return _role_names().sub(MASK, text)
