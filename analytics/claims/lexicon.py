"""The words by which claims are told, from `lexicon.toml`: the one place for them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from wolfbus.marks import MARK
from wolfbus.package_data import PackageData, read_data


class Lexicon(PackageData):
    """What `lexicon.toml` holds."""

    spelling: Mapping[str, str]
    """What a word is read as."""
    words: Mapping[str, str]
    """Words by what they do in a claim."""
    patterns: Mapping[str, str]
    """Rows of words by what they say; `analytics.claims.patterns` tells how they are written."""


_DATA: Final = read_data("analytics.claims", "lexicon", Lexicon)

SPELLING: Final = dict(_DATA.spelling)
WORDS: Final = {name: frozenset(words.split()) for name, words in _DATA.words.items()}
PATTERNS: Final = dict(_DATA.patterns)

_PHRASES: Final = sorted(
    {word for words in WORDS.values() for word in words if "_" in word}, key=lambda word: (-len(word), word)
)
_PHRASE: Final = re.compile(
    r"(?<!\S)(?:" + "|".join(re.escape(word.strip("_").replace("_", " ")) for word in _PHRASES) + r")(?!\S)"
)


def _any(name: str) -> str:
    """Return what matches any of the words of that name."""
    return "|".join(word.replace("_", " ") for word in sorted(WORDS[name]))


AGAINST: Final = re.compile(
    rf"(?<!not )(?<!n't )(?<!never )\b(?:{_any('exile')})(?: (?:{_any('to_exile')}))*"
    rf",? ({MARK})(?!\w)|({MARK}),? (?:{_any('guilty')})\b"
)
"""Words that call for somebody to be exiled or a liar, over words in lower case with marks for names."""


def any_of(*kinds: str) -> frozenset[str]:
    """Return the words of these classes."""
    return frozenset[str]().union(*(WORDS[kind] for kind in kinds))


def joined(words: str) -> str:
    """Return words with spaces between them, those of a phrase that counts as one word joined by underscores."""
    return _PHRASE.sub(lambda found: found[0].replace(" ", "_"), words)
